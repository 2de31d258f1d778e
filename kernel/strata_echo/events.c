// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What all listeners of a network namespace hear: on demand, and at times. */
#include <net/netlink.h>

#include "strata_echo_net.h"

static struct workqueue_struct *ticks;
/* The module leaves: what ticks from now on sends nothing. */
static bool stopping;

/* `msg` may be NULL: nobody asked for it. */
static int send_event(struct strata_echo_net *of, const struct nlattr *msg)
{
	size_t size = nla_total_size(sizeof(u32)) + nla_total_size(msg ? nla_len(msg) : 0);
	struct sk_buff *event = genlmsg_new(size, GFP_KERNEL);
	void *head;
	int err;

	if (!event)
		return -ENOMEM;
	head = genlmsg_put(event, 0, 0, &strata_echo_family, 0, STRATA_ECHO_CMD_EVENT);
	if (!head || nla_put_u32(event, STRATA_ECHO_A_SEQUENCE,
				 (u32)atomic_inc_return(&of->sequence)))
		goto no_room;
	if (msg ? nla_put(event, STRATA_ECHO_A_MSG, nla_len(msg), nla_data(msg)) :
		  nla_put_flag(event, STRATA_ECHO_A_PERIODIC))
		goto no_room;
	genlmsg_end(event, head);
	atomic64_inc(&of->events);
	err = genlmsg_multicast_netns(&strata_echo_family, of->net, event, 0, 0, GFP_KERNEL);
	/* Nobody listens, or a listener is slow, which it hears of itself (ENOBUFS). */
	return err == -ESRCH || err == -ENOBUFS ? 0 : err;

no_room:
	nlmsg_free(event);
	return -EMSGSIZE;
}

static void tick(struct work_struct *work)
{
	struct strata_echo_net *of =
		container_of(to_delayed_work(work), struct strata_echo_net, tick);
	u32 period_ms = READ_ONCE(of->period_ms);

	if (!period_ms || READ_ONCE(stopping))
		return;
	send_event(of, NULL);
	queue_delayed_work(ticks, &of->tick, msecs_to_jiffies(period_ms));
}

int strata_echo_notify(struct sk_buff *skb, struct genl_info *info)
{
	return send_event(strata_echo_of(genl_info_net(info)), info->attrs[STRATA_ECHO_A_MSG]);
}

int strata_echo_set_period(struct sk_buff *skb, struct genl_info *info)
{
	struct strata_echo_net *of = strata_echo_of(genl_info_net(info));
	u32 period_ms;

	if (GENL_REQ_ATTR_CHECK(info, STRATA_ECHO_A_PERIOD))
		return -EINVAL;
	period_ms = nla_get_u32(info->attrs[STRATA_ECHO_A_PERIOD]);
	if (period_ms && period_ms < STRATA_ECHO_PERIOD_MIN) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[STRATA_ECHO_A_PERIOD],
				    "a PERIOD is 0 or 10 ms and more");
		return -ERANGE;
	}
	WRITE_ONCE(of->period_ms, period_ms);
	/* With 0 it ticks once more, and ends. */
	mod_delayed_work(ticks, &of->tick, msecs_to_jiffies(period_ms));
	return 0;
}

void strata_echo_events_net_init(struct strata_echo_net *of)
{
	INIT_DELAYED_WORK(&of->tick, tick);
}

void strata_echo_events_net_exit(struct strata_echo_net *of)
{
	cancel_delayed_work_sync(&of->tick);
}

int strata_echo_events_init(void)
{
	ticks = alloc_workqueue("strata_echo", 0, 0);
	return ticks ? 0 : -ENOMEM;
}

void strata_echo_events_stop(void)
{
	WRITE_ONCE(stopping, true);
	flush_workqueue(ticks); /* those that had not seen it */
}

void strata_echo_events_exit(void)
{
	destroy_workqueue(ticks);
}
