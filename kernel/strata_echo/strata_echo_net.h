/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the module has in each network namespace, and the handlers of its commands. No handler takes
 * a lock: parallel requests, dumps that are never read and namespaces that end hold up nobody.
 */
#ifndef STRATA_ECHO_NET_H
#define STRATA_ECHO_NET_H

#include <linux/atomic.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "../uapi/strata_echo.h"

struct strata_echo_net {
	struct net *net;
	atomic64_t echoes;
	atomic64_t bytes;
	atomic64_t dumps;
	atomic64_t refused;
	atomic64_t events;
	atomic_t sequence;
	u32 period_ms; /* READ_ONCE and WRITE_ONCE: whoever set it last has it */
	struct delayed_work tick;
};

extern struct genl_family strata_echo_family;

struct strata_echo_net *strata_echo_of(struct net *net);

/* echo.c */
int strata_echo_msg(struct sk_buff *skb, struct genl_info *info);
int strata_echo_dump_start(struct netlink_callback *cb);
int strata_echo_dump(struct sk_buff *skb, struct netlink_callback *cb);
int strata_echo_refuse(struct sk_buff *skb, struct genl_info *info);
int strata_echo_batch(struct sk_buff *skb, struct genl_info *info);
int strata_echo_counters(struct sk_buff *skb, struct genl_info *info);

/* events.c */
int strata_echo_events_init(void);
void strata_echo_events_stop(void); /* no EVENT is sent any more */
void strata_echo_events_exit(void);
void strata_echo_events_net_init(struct strata_echo_net *of);
void strata_echo_events_net_exit(struct strata_echo_net *of);
int strata_echo_notify(struct sk_buff *skb, struct genl_info *info);
int strata_echo_set_period(struct sk_buff *skb, struct genl_info *info);

/* Attributes of a dump's request: 6.7 moved them. */
static inline struct nlattr *strata_echo_dump_attr(struct netlink_callback *cb, int type)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	return genl_dumpit_info(cb)->attrs[type];
#else
	return genl_info_dump(cb)->attrs[type];
#endif
}

#endif
