// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What is answered to the one who asked: echoes, errors and counters. */
#include <net/netlink.h>

#include "strata_echo_net.h"

#define REFUSAL "this command always fails"

static size_t text_length(const struct nlattr *msg)
{
	return nla_len(msg) - 1; /* the policy saw its NUL */
}

static struct sk_buff *begin_reply(struct genl_info *info, u8 command, size_t size, void **head)
{
	struct sk_buff *reply = genlmsg_new(size, GFP_KERNEL);

	if (!reply)
		return NULL;
	*head = genlmsg_put_reply(reply, info, &strata_echo_family, 0, command);
	if (*head)
		return reply;
	nlmsg_free(reply);
	return NULL;
}

static int send_reply(struct sk_buff *reply, void *head, struct genl_info *info)
{
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}

/* The number of this echo. */
static u64 count_echo(struct strata_echo_net *of, const struct nlattr *msg)
{
	atomic64_add(text_length(msg), &of->bytes);
	return atomic64_inc_return(&of->echoes);
}

int strata_echo_msg(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *msg = info->attrs[STRATA_ECHO_A_MSG];
	struct sk_buff *reply;
	void *head;

	if (GENL_REQ_ATTR_CHECK(info, STRATA_ECHO_A_MSG))
		return -EINVAL;
	reply = begin_reply(info, STRATA_ECHO_CMD_ECHO_MSG, nla_total_size(nla_len(msg)), &head);
	if (!reply)
		return -ENOMEM;
	if (nla_put(reply, STRATA_ECHO_A_MSG, nla_len(msg), nla_data(msg))) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	nl_set_extack_cookie_u64(info->extack,
				 count_echo(strata_echo_of(genl_info_net(info)), msg));
	return send_reply(reply, head, info);
}

/* A dump keeps its place in cb->args, and nothing else: one that nobody reads holds no lock. */
int strata_echo_dump_start(struct netlink_callback *cb)
{
	const struct nlattr *msg = strata_echo_dump_attr(cb, STRATA_ECHO_A_MSG);

	if (msg)
		cb->min_dump_alloc = nlmsg_total_size(GENL_HDRLEN) + nla_total_size(sizeof(u32)) +
				     nla_total_size(nla_len(msg));
	atomic64_inc(&strata_echo_of(sock_net(cb->skb->sk))->dumps);
	return 0;
}

static int put_dumped(struct sk_buff *skb, struct netlink_callback *cb, u32 index)
{
	static const char usual[] = "a message of a dump";
	const struct nlattr *msg = strata_echo_dump_attr(cb, STRATA_ECHO_A_MSG);
	void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				 &strata_echo_family, NLM_F_MULTI, STRATA_ECHO_CMD_ECHO_MSG);

	if (!head)
		return -EMSGSIZE;
	if (nla_put_u32(skb, STRATA_ECHO_A_INDEX, index) ||
	    nla_put(skb, STRATA_ECHO_A_MSG, msg ? nla_len(msg) : sizeof(usual),
		    msg ? nla_data(msg) : usual)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

int strata_echo_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	while (cb->args[0] < STRATA_ECHO_DUMP_COUNT) {
		/* What has no room comes in the next datagram. */
		if (put_dumped(skb, cb, cb->args[0]))
			return skb->len ? skb->len : -EMSGSIZE;
		cb->args[0]++;
	}
	return skb->len;
}

int strata_echo_refuse(struct sk_buff *skb, struct genl_info *info)
{
	atomic64_inc(&strata_echo_of(genl_info_net(info))->refused);
	if (info->attrs[STRATA_ECHO_A_MSG])
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[STRATA_ECHO_A_MSG], REFUSAL);
	else
		NL_SET_ERR_MSG(info->extack, REFUSAL);
	return -EINVAL;
}

/* The MSG of an ITEM; NULL, with what is wrong in the extended ACK, when it has none. */
static struct nlattr *text_of(const struct nlattr *item, struct netlink_ext_ack *extack)
{
	/* Types and lengths were validated with the request. */
	struct nlattr *msg = nla_find_nested(item, STRATA_ECHO_ITEM_A_MSG);

	if (!msg)
		NL_SET_ERR_MSG_ATTR(extack, item, "an ITEM has no MSG");
	return msg;
}

/* How many ITEMs there are, and in *size what they take in a reply; or an error. */
static int measure_batch(struct genl_info *info, size_t *size)
{
	struct nlattr *item;
	int count = 0;
	int rest;

	nla_for_each_attr(item, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rest) {
		struct nlattr *msg = text_of(item, info->extack);

		if (!msg)
			return -EINVAL;
		if (++count > STRATA_ECHO_BATCH_MAX) {
			NL_SET_ERR_MSG_ATTR(info->extack, item, "more than 64 ITEMs");
			return -E2BIG;
		}
		*size += nla_total_size(nla_total_size(nla_len(msg)));
	}
	if (!count) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, STRATA_ECHO_A_ITEM);
		NL_SET_ERR_MSG(info->extack, "a batch needs an ITEM");
		return -EINVAL;
	}
	return count;
}

static int put_item(struct sk_buff *reply, const struct nlattr *msg)
{
	struct nlattr *nest = nla_nest_start(reply, STRATA_ECHO_A_ITEM);

	if (!nest || nla_put(reply, STRATA_ECHO_ITEM_A_MSG, nla_len(msg), nla_data(msg)))
		return -EMSGSIZE;
	nla_nest_end(reply, nest);
	return 0;
}

int strata_echo_batch(struct sk_buff *skb, struct genl_info *info)
{
	struct strata_echo_net *of = strata_echo_of(genl_info_net(info));
	size_t size = nla_total_size(sizeof(u32));
	int count = measure_batch(info, &size);
	struct sk_buff *reply;
	struct nlattr *item;
	void *head;
	int rest;

	if (count < 0)
		return count;
	reply = begin_reply(info, STRATA_ECHO_CMD_ECHO_BATCH, size, &head);
	if (!reply)
		return -ENOMEM;
	if (nla_put_u32(reply, STRATA_ECHO_A_COUNT, count))
		goto no_room;
	nla_for_each_attr(item, genlmsg_data(info->genlhdr),
			  genlmsg_len(info->genlhdr), rest) {
		struct nlattr *msg = nla_find_nested(item, STRATA_ECHO_ITEM_A_MSG);

		if (put_item(reply, msg))
			goto no_room;
		count_echo(of, msg);
	}
	return send_reply(reply, head, info);

no_room:
	nlmsg_free(reply);
	return -EMSGSIZE;
}

static int put_counter(struct sk_buff *reply, int type, const atomic64_t *value)
{
	return nla_put_u64_64bit(reply, type, atomic64_read(value), STRATA_ECHO_COUNTER_A_PAD);
}

int strata_echo_counters(struct sk_buff *skb, struct genl_info *info)
{
	const struct strata_echo_net *of = strata_echo_of(genl_info_net(info));
	size_t size = nla_total_size(STRATA_ECHO_COUNTER_A_MAX * nla_total_size_64bit(sizeof(u64)));
	struct sk_buff *reply;
	struct nlattr *nest;
	void *head;

	reply = begin_reply(info, STRATA_ECHO_CMD_GET_COUNTERS, size, &head);
	if (!reply)
		return -ENOMEM;
	nest = nla_nest_start(reply, STRATA_ECHO_A_COUNTERS);
	if (!nest || put_counter(reply, STRATA_ECHO_COUNTER_A_ECHOES, &of->echoes) ||
	    put_counter(reply, STRATA_ECHO_COUNTER_A_BYTES, &of->bytes) ||
	    put_counter(reply, STRATA_ECHO_COUNTER_A_DUMPS, &of->dumps) ||
	    put_counter(reply, STRATA_ECHO_COUNTER_A_REFUSED, &of->refused) ||
	    put_counter(reply, STRATA_ECHO_COUNTER_A_EVENTS, &of->events)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	nla_nest_end(reply, nest);
	return send_reply(reply, head, info);
}
