// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The family: its commands, what each takes, and its life. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/netns/generic.h>

#include "strata_echo_net.h"

static char *family = STRATA_ECHO_FAMILY_NAME;
module_param(family, charp, 0444);
MODULE_PARM_DESC(family, "name of the generic-netlink family, 1 to 15 characters");

static unsigned int net_id __read_mostly;

struct strata_echo_net *strata_echo_of(struct net *net)
{
	return net_generic(net, net_id);
}

/* Linux 6.1 wants it not const. */
static struct netlink_range_validation period_range = {
	.max = STRATA_ECHO_PERIOD_MAX,
};

static const struct nla_policy msg_policy[] = {
	[STRATA_ECHO_A_MSG] = { .type = NLA_NUL_STRING, .len = STRATA_ECHO_MSG_MAX },
};

static const struct nla_policy item_policy[] = {
	[STRATA_ECHO_ITEM_A_MSG] = { .type = NLA_NUL_STRING, .len = STRATA_ECHO_MSG_MAX },
};

static const struct nla_policy batch_policy[] = {
	[STRATA_ECHO_A_ITEM] = NLA_POLICY_NESTED(item_policy),
};

static const struct nla_policy period_policy[] = {
	[STRATA_ECHO_A_PERIOD] = NLA_POLICY_FULL_RANGE(NLA_U32, &period_range),
};

/* maxattr is the last of the table: what is above it is refused before anybody looks into it. */
#define TAKES(table) .policy = (table), .maxattr = ARRAY_SIZE(table) - 1

static const struct genl_ops commands[] = {
	{
		.cmd = STRATA_ECHO_CMD_ECHO_MSG,
		.doit = strata_echo_msg,
		.start = strata_echo_dump_start,
		.dumpit = strata_echo_dump,
		TAKES(msg_policy),
	},
	{
		.cmd = STRATA_ECHO_CMD_REPLY_WITH_NLMSG_ERR,
		.doit = strata_echo_refuse,
		TAKES(msg_policy),
	},
	{
		.cmd = STRATA_ECHO_CMD_ECHO_BATCH,
		.doit = strata_echo_batch,
		TAKES(batch_policy),
	},
	{
		/* Without a table of its own it takes no attribute. */
		.cmd = STRATA_ECHO_CMD_GET_COUNTERS,
		.doit = strata_echo_counters,
	},
	{
		.cmd = STRATA_ECHO_CMD_NOTIFY,
		.doit = strata_echo_notify,
		TAKES(msg_policy),
	},
	{
		.cmd = STRATA_ECHO_CMD_SET_PERIOD,
		.doit = strata_echo_set_period,
		.flags = GENL_UNS_ADMIN_PERM,
		TAKES(period_policy),
	},
};

static const struct genl_multicast_group groups[] = {
	{ .name = STRATA_ECHO_GROUP_EVENTS },
};

struct genl_family strata_echo_family __ro_after_init = {
	.version = STRATA_ECHO_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = commands,
	.n_ops = ARRAY_SIZE(commands),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

static int __net_init net_init(struct net *net)
{
	struct strata_echo_net *of = strata_echo_of(net);

	of->net = net;
	strata_echo_events_net_init(of);
	return 0;
}

static void __net_exit net_exit(struct net *net)
{
	strata_echo_events_net_exit(strata_echo_of(net));
}

static struct pernet_operations net_operations = {
	.init = net_init,
	.exit = net_exit,
	.id = &net_id,
	.size = sizeof(struct strata_echo_net),
};

static int __init strata_echo_init(void)
{
	size_t length = strlen(family);
	int err;

	if (length == 0 || length >= sizeof(strata_echo_family.name)) {
		pr_err("family='%s' has %zu characters; give it 1 to %zu\n", family, length,
		       sizeof(strata_echo_family.name) - 1);
		return -EINVAL;
	}
	strscpy(strata_echo_family.name, family, sizeof(strata_echo_family.name));
	err = strata_echo_events_init();
	if (err)
		return err;
	/* Before the family: a command finds its namespace's counters. */
	err = register_pernet_subsys(&net_operations);
	if (err)
		goto no_namespaces;
	err = genl_register_family(&strata_echo_family);
	if (err) {
		pr_err("cannot register the family '%s': %d\n", family, err);
		goto no_family;
	}
	pr_info("family '%s' has id %d\n", family, strata_echo_family.id);
	return 0;

no_family:
	unregister_pernet_subsys(&net_operations);
no_namespaces:
	strata_echo_events_exit();
	return err;
}

static void __exit strata_echo_exit(void)
{
	/* Before the family goes: its group's number may be another's afterwards. */
	strata_echo_events_stop();
	genl_unregister_family(&strata_echo_family);
	unregister_pernet_subsys(&net_operations);
	strata_echo_events_exit();
	pr_info("family '%s' is gone\n", family);
}

module_init(strata_echo_init);
module_exit(strata_echo_exit);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("A generic-netlink family that echoes: a template, and the other end of tests");
MODULE_VERSION("0.1.0");
