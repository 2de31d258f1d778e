/* What the filter and its loader share. Numbers are in host order, but for the MAC address. */
#pragma once

#include <linux/types.h>

#define STRATA_MOST_RULES 16
/* Queues of an interface that rules can speak of; frames of others pass. */
#define STRATA_MOST_QUEUES 64

enum strata_rule_flags {
  strata_rule_active = 1,
  strata_rule_ethertype = 2,
  strata_rule_vlan = 4,
  strata_rule_destination = 8,
  strata_rule_udp_port = 16,
};

struct strata_rule {
  __u32 flags; /* what must be equal */
  __u16 ethertype;
  __u16 vlan_id;
  __u8 destination[6];
  __u16 udp_port;
};

struct strata_rules {
  __u32 count; /* of places in use, and unused ones between them */
  struct strata_rule rules[STRATA_MOST_RULES];
};
