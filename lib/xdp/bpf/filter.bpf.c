// The XDP program: a frame that a rule is about goes to the AF_XDP socket that the rule has on the
// frame's queue; all other frames go on to the kernel. The first rule that fits and has a socket
// there wins.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xdp/bpf/rules.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct strata_rules);
} strata_rules SEC(".maps");

// Rule r's socket on queue q is number r * STRATA_MOST_QUEUES + q.
struct {
  __uint(type, BPF_MAP_TYPE_XSKMAP);
  __uint(max_entries, STRATA_MOST_RULES* STRATA_MOST_QUEUES);
  __type(key, __u32);
  __type(value, __u32);
} strata_sockets SEC(".maps");

struct tag {
  __be16 tci;
  __be16 type;
};

// What rules ask about. A frame without a tag has the VLAN ID 0xffff, one without a UDP port -1.
struct facts {
  __u16 ethertype;
  __u16 vlan_id;
  __u32 udp_port;
  const unsigned char* destination;
};

static __always_inline __u32 udp_port_of(const void* at, const void* end, __u16 ethertype) {
  const __u32 none = 0xffffffff;
  const __u8* bytes = at;
  if (ethertype == ETH_P_IP) {
    if ((const void*)(bytes + 20) > end) return none;
    // A later fragment has no ports.
    if (bytes[9] != IPPROTO_UDP || (bytes[6] & 0x1f) != 0 || bytes[7] != 0) return none;
    const __u32 size = (bytes[0] & 0x0f) * 4U;
    if (size < 20) return none;
    bytes += size;
  } else if (ethertype == ETH_P_IPV6) {
    if ((const void*)(bytes + 40) > end || bytes[6] != IPPROTO_UDP) return none;
    bytes += 40;
  } else {
    return none;
  }
  if ((const void*)(bytes + 8) > end) return none;
  return (__u32)bytes[2] << 8U | bytes[3];
}

static __always_inline int is_about(const struct strata_rule* rule, const struct facts* frame) {
  if (!(rule->flags & strata_rule_active)) return 0;
  if ((rule->flags & strata_rule_ethertype) && rule->ethertype != frame->ethertype) return 0;
  if ((rule->flags & strata_rule_vlan) && rule->vlan_id != frame->vlan_id) return 0;
  if ((rule->flags & strata_rule_udp_port) && rule->udp_port != frame->udp_port) return 0;
  if (rule->flags & strata_rule_destination) {
    for (int i = 0; i < 6; ++i) {
      if (rule->destination[i] != frame->destination[i]) return 0;
    }
  }
  return 1;
}

SEC("xdp.frags")
int strata_filter(struct xdp_md* context) {
  const void* end = (const void*)(long)context->data_end;
  const struct ethhdr* header = (const void*)(long)context->data;
  if ((const void*)(header + 1) > end) return XDP_PASS;

  struct facts frame = {.ethertype = bpf_ntohs(header->h_proto),
                        .vlan_id = 0xffff,
                        .destination = header->h_dest};
  const struct tag* next = (const void*)(header + 1);
  // The outermost of up to two tags is the frame's VLAN.
  for (int i = 0; i < 2; ++i) {
    if (frame.ethertype != ETH_P_8021Q && frame.ethertype != ETH_P_8021AD) break;
    if ((const void*)(next + 1) > end) return XDP_PASS;
    if (i == 0) frame.vlan_id = bpf_ntohs(next->tci) & 0x0fff;
    frame.ethertype = bpf_ntohs(next->type);
    ++next;
  }
  frame.udp_port = udp_port_of(next, end, frame.ethertype);

  const __u32 only = 0;
  const struct strata_rules* all = bpf_map_lookup_elem(&strata_rules, &only);
  if (all == NULL || context->rx_queue_index >= STRATA_MOST_QUEUES) return XDP_PASS;
  for (__u32 i = 0; i < STRATA_MOST_RULES; ++i) {
    if (i >= all->count) break;
    if (!is_about(&all->rules[i], &frame)) continue;
    const __u32 socket = i * STRATA_MOST_QUEUES + context->rx_queue_index;
    if (bpf_map_lookup_elem(&strata_sockets, &socket) == NULL) continue;
    return (int)bpf_redirect_map(&strata_sockets, socket, XDP_PASS);
  }
  return XDP_PASS;
}

const char strata_license[] SEC("license") = "Dual MIT/GPL";
