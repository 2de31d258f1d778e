/* What the filter and its loader share. Numbers are in host order, but for the MAC address. */
#pragma once

#include <linux/types.h>

#define STRATA_MOST_RULES 16
/* Queues of an interface that rules can speak of; frames of others pass. */
#define STRATA_MOST_QUEUES 64

enum strata_rule_flags {
  STRATA_RULE_ACTIVE = 1,
  STRATA_RULE_ETHERTYPE = 2,
  STRATA_RULE_VLAN = 4,
  STRATA_RULE_DESTINATION = 8,
  STRATA_RULE_UDP_PORT = 16,
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
