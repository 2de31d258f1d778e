/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NOTICEBOARD_H
#define NOTICEBOARD_H

#define NOTICEBOARD_FAMILY "noticeboard"
#define NOTICEBOARD_GROUP "posted"

enum {
	NOTICEBOARD_CMD_UNSPEC,
	NOTICEBOARD_CMD_POST, /* TEXT, and LEVEL where it is not 1; root alone may */
	NOTICEBOARD_CMD_LIST, /* a dump: NUMBER, TEXT and LEVEL of each notice */
	NOTICEBOARD_CMD_POSTED, /* to the group: NUMBER, TEXT and LEVEL of a new one */
};

enum {
	NOTICEBOARD_A_UNSPEC,
	NOTICEBOARD_A_TEXT, /* string, at most 20 characters */
	NOTICEBOARD_A_LEVEL, /* u8, 1 to 3 */
	NOTICEBOARD_A_NUMBER, /* u32 */
};

#define NOTICEBOARD_TEXT_MAX 20

#endif
