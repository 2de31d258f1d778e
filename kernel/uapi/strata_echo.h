/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The generic-netlink family "strata_echo", version 1: what user space and the module agree on.
 * strata_echo.yaml says the same for YNL's tools.
 *
 * Messages: struct nlmsghdr, struct genlmsghdr (reserved must be 0), then attributes. All commands
 * are validated strictly: unknown attributes, attribute 0, lengths past the end, and strings
 * without their NUL are refused with -EINVAL and an extended ACK that says where. Every command
 * works in the network namespace of the socket. Everybody may, unless it says otherwise.
 *
 *   command                its attributes          reply
 *   ECHO_MSG (do)          MSG                     ECHO_MSG { MSG }, seq and text those of the
 *                                                  request; an ACK, if one was asked for,
 *                                                  carries the number of the echo as a cookie
 *   ECHO_MSG (dump)        [MSG]                   three messages { INDEX, MSG }, NLM_F_MULTI,
 *                                                  and NLMSG_DONE
 *   REPLY_WITH_NLMSG_ERR   [MSG]                   NLMSG_ERROR -EINVAL, with a text; with MSG
 *                                                  also with its offset
 *   ECHO_BATCH             ITEM { MSG }, 1 to 64x ECHO_BATCH { COUNT, ITEM { MSG } ... }
 *   GET_COUNTERS           none                    GET_COUNTERS { COUNTERS { ... } }, of this
 *                                                  network namespace since it was made
 *   NOTIFY                 [MSG]                   none; all listeners of "events" hear EVENT
 *   SET_PERIOD             PERIOD                  none; needs CAP_NET_ADMIN in the user
 *                                                  namespace that owns the network namespace
 *
 *   EVENT is only ever sent, to the multicast group "events": { SEQUENCE, MSG or PERIODIC }.
 */
#ifndef STRATA_ECHO_H
#define STRATA_ECHO_H

#define STRATA_ECHO_FAMILY_NAME "strata_echo"
#define STRATA_ECHO_FAMILY_VERSION 1
#define STRATA_ECHO_GROUP_EVENTS "events"

#define STRATA_ECHO_MSG_MAX 8192 /* bytes of a MSG, without its NUL */
#define STRATA_ECHO_BATCH_MAX 64 /* ITEMs of a request */
#define STRATA_ECHO_DUMP_COUNT 3
#define STRATA_ECHO_PERIOD_MIN 10      /* ms; 0 is off */
#define STRATA_ECHO_PERIOD_MAX 3600000 /* ms */

enum strata_echo_cmd {
	STRATA_ECHO_CMD_UNSPEC,
	STRATA_ECHO_CMD_ECHO_MSG,
	STRATA_ECHO_CMD_REPLY_WITH_NLMSG_ERR,
	STRATA_ECHO_CMD_ECHO_BATCH,
	STRATA_ECHO_CMD_GET_COUNTERS,
	STRATA_ECHO_CMD_NOTIFY,
	STRATA_ECHO_CMD_SET_PERIOD,
	STRATA_ECHO_CMD_EVENT,
	__STRATA_ECHO_CMD_MAX,
	STRATA_ECHO_CMD_MAX = __STRATA_ECHO_CMD_MAX - 1
};

enum strata_echo_attr {
	STRATA_ECHO_A_UNSPEC,
	STRATA_ECHO_A_MSG,      /* NUL-terminated string */
	STRATA_ECHO_A_INDEX,    /* u32: which message of a dump, from 0 */
	STRATA_ECHO_A_ITEM,     /* nest of strata_echo_item_attr, may be there many times */
	STRATA_ECHO_A_COUNT,    /* u32: ITEMs in a reply */
	STRATA_ECHO_A_COUNTERS, /* nest of strata_echo_counter_attr */
	STRATA_ECHO_A_PERIOD,   /* u32: ms between periodic EVENTs, 0 for none */
	STRATA_ECHO_A_SEQUENCE, /* u32: counts the EVENTs of a network namespace, from 1 */
	STRATA_ECHO_A_PERIODIC, /* flag: nobody asked for this EVENT */
	__STRATA_ECHO_A_MAX,
	STRATA_ECHO_A_MAX = __STRATA_ECHO_A_MAX - 1
};

enum strata_echo_item_attr {
	STRATA_ECHO_ITEM_A_UNSPEC,
	STRATA_ECHO_ITEM_A_MSG, /* NUL-terminated string */
	__STRATA_ECHO_ITEM_A_MAX,
	STRATA_ECHO_ITEM_A_MAX = __STRATA_ECHO_ITEM_A_MAX - 1
};

enum strata_echo_counter_attr {
	STRATA_ECHO_COUNTER_A_UNSPEC,
	STRATA_ECHO_COUNTER_A_PAD,
	STRATA_ECHO_COUNTER_A_ECHOES,  /* u64: texts echoed, in batches too */
	STRATA_ECHO_COUNTER_A_BYTES,   /* u64: of those, without NULs */
	STRATA_ECHO_COUNTER_A_DUMPS,   /* u64: dumps begun */
	STRATA_ECHO_COUNTER_A_REFUSED, /* u64: REPLY_WITH_NLMSG_ERR */
	STRATA_ECHO_COUNTER_A_EVENTS,  /* u64: EVENTs sent, heard or not */
	__STRATA_ECHO_COUNTER_A_MAX,
	STRATA_ECHO_COUNTER_A_MAX = __STRATA_ECHO_COUNTER_A_MAX - 1
};

#endif
