// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A family with a policy, errors that say why, a dump and a multicast group. */
#include <linux/module.h>
#include <net/genetlink.h>

#include "noticeboard.h"

static struct genl_family noticeboard;

static void tell_group(u32 number);

/* The kernel calls one handler of a family at a time, for parallel_ops is not set: no lock here. */
static struct notice {
	u8 level;
	char text[NOTICEBOARD_TEXT_MAX + 1];
} board[4];
static u32 posted;

static const struct nla_policy post_policy[] = {
	[NOTICEBOARD_A_TEXT] = { .type = NLA_NUL_STRING, .len = NOTICEBOARD_TEXT_MAX },
	[NOTICEBOARD_A_LEVEL] = NLA_POLICY_RANGE(NLA_U8, 1, 3),
};

static int post(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *text = info->attrs[NOTICEBOARD_A_TEXT];
	struct nlattr *level = info->attrs[NOTICEBOARD_A_LEVEL];

	if (GENL_REQ_ATTR_CHECK(info, NOTICEBOARD_A_TEXT))
		return -EINVAL;
	if (posted == ARRAY_SIZE(board)) {
		NL_SET_ERR_MSG(info->extack, "the board is full");
		return -ENOSPC;
	}
	if (!*(const char *)nla_data(text)) {
		NL_SET_ERR_MSG_ATTR(info->extack, text, "a notice says something");
		return -EINVAL;
	}
	board[posted].level = level ? nla_get_u8(level) : 1;
	nla_strscpy(board[posted].text, text, sizeof(board->text));
	tell_group(posted++);
	return 0;
}

static int put_notice(struct sk_buff *message, u32 number, const struct notice *notice)
{
	if (nla_put_u32(message, NOTICEBOARD_A_NUMBER, number) ||
	    nla_put_string(message, NOTICEBOARD_A_TEXT, notice->text) ||
	    nla_put_u8(message, NOTICEBOARD_A_LEVEL, notice->level))
		return -EMSGSIZE;
	return 0;
}

/* What a dump keeps between its parts; it has to fit into cb->ctx. */
struct listing {
	struct notice *copy;
	u32 count;
	u32 next;
};

static int list_start(struct netlink_callback *cb)
{
	struct listing *listing = (struct listing *)cb->ctx;

	BUILD_BUG_ON(sizeof(*listing) > sizeof(cb->ctx));
	listing->copy = kmemdup(board, sizeof(board), GFP_KERNEL);
	if (!listing->copy)
		return -ENOMEM;
	listing->count = posted;
	return 0;
}

static int list_done(struct netlink_callback *cb)
{
	struct listing *listing = (struct listing *)cb->ctx;

	kfree(listing->copy);
	return 0;
}

static int list(struct sk_buff *part, struct netlink_callback *cb)
{
	struct listing *listing = (struct listing *)cb->ctx;

	for (; listing->next < listing->count; listing->next++) {
		void *head = genlmsg_put(part, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
					 &noticeboard, NLM_F_MULTI, NOTICEBOARD_CMD_LIST);

		if (!head)
			break; /* no room: the rest is in the next part */
		if (put_notice(part, listing->next, &listing->copy[listing->next])) {
			genlmsg_cancel(part, head);
			break;
		}
		genlmsg_end(part, head);
	}
	return part->len; /* 0 ends the dump */
}

/* What a notice takes in a message: the sizes of its attributes. */
static size_t notice_size(void)
{
	return nla_total_size(sizeof(board->text)) + nla_total_size(sizeof(u8)) +
	       nla_total_size(sizeof(u32));
}

static void tell_group(u32 number)
{
	struct sk_buff *event = genlmsg_new(notice_size(), GFP_KERNEL);
	void *head;

	if (!event)
		return;
	head = genlmsg_put(event, 0, 0, &noticeboard, 0, NOTICEBOARD_CMD_POSTED);
	if (!head || put_notice(event, number, &board[number])) {
		nlmsg_free(event);
		return;
	}
	genlmsg_end(event, head);
	genlmsg_multicast(&noticeboard, event, 0, 0, GFP_KERNEL);
}

static const struct genl_ops commands[] = {
	{
		.cmd = NOTICEBOARD_CMD_POST,
		.doit = post,
		.policy = post_policy,
		.maxattr = ARRAY_SIZE(post_policy) - 1,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = NOTICEBOARD_CMD_LIST,
		.start = list_start,
		.dumpit = list,
		.done = list_done,
	},
};

static const struct genl_multicast_group groups[] = {
	{ .name = NOTICEBOARD_GROUP },
};

static struct genl_family noticeboard __ro_after_init = {
	.name = NOTICEBOARD_FAMILY,
	.version = 1,
	.module = THIS_MODULE,
	.ops = commands,
	.n_ops = ARRAY_SIZE(commands),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

static int __init noticeboard_init(void)
{
	return genl_register_family(&noticeboard);
}

static void __exit noticeboard_exit(void)
{
	genl_unregister_family(&noticeboard);
}

module_init(noticeboard_init);
module_exit(noticeboard_exit);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("A generic netlink family with a policy, a dump and a group");
