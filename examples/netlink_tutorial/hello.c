// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The smallest family: one command, which is answered by a text. */
#include <linux/module.h>
#include <net/genetlink.h>

#include "hello.h"

static struct genl_family hello;

static int greet(struct sk_buff *request, struct genl_info *info)
{
	static const char text[] = "hello";
	struct sk_buff *reply = genlmsg_new(nla_total_size(sizeof(text)), GFP_KERNEL);
	void *head;

	if (!reply)
		return -ENOMEM;
	head = genlmsg_put_reply(reply, info, &hello, 0, HELLO_CMD_GREET);
	if (!head || nla_put_string(reply, HELLO_A_TEXT, text)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}

static const struct genl_ops commands[] = {
	{ .cmd = HELLO_CMD_GREET, .doit = greet },
};

static struct genl_family hello __ro_after_init = {
	.name = HELLO_FAMILY,
	.version = 1,
	.module = THIS_MODULE,
	.ops = commands,
	.n_ops = ARRAY_SIZE(commands),
};

static int __init hello_init(void)
{
	return genl_register_family(&hello);
}

static void __exit hello_exit(void)
{
	genl_unregister_family(&hello);
}

module_init(hello_init);
module_exit(hello_exit);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("The smallest generic netlink family");
