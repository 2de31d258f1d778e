/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef HELLO_H
#define HELLO_H

#define HELLO_FAMILY "hello"

enum { HELLO_CMD_UNSPEC, HELLO_CMD_GREET };
enum { HELLO_A_UNSPEC, HELLO_A_TEXT };

#endif
