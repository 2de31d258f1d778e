/*
 * A connection by libnl: its callbacks check what comes in, and leave it in `struct connection`.
 */
#pragma once

#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "../../../kernel/uapi/strata_echo.h"
#include "../command_line.h"

/* ROOM given, libnl does not ask for the length of each datagram before it receives it. */
enum { ROOM = 32768, EVENT_PATIENCE_S = 5 };

struct connection {
  struct nl_sock* sock;
  uint32_t sequence; /* of the last request */
  int type;          /* that its reply is to have */
  int command;       /* likewise */
  /* What the callbacks leave. */
  unsigned messages;
  bool ended; /* by NLMSG_DONE, or by NLMSG_ERROR, which may be an ACK */
  int error;
  bool has_text;
  char text[STRATA_ECHO_MSG_MAX + 1];
  uint32_t number; /* INDEX, SEQUENCE, or the offset of an error */
};

static inline void check_call(int result, const char* what) {
  if (result < 0)
    fail(EXIT_WRONG, "cannot %s: %s; `strace` shows what the kernel said", what,
         nl_geterror(result));
}

static inline void copy_text(struct connection* connection, const struct nlattr* attribute) {
  size_t length = (size_t)nla_len(attribute);
  if (length > sizeof(connection->text) || !memchr(nla_data(attribute), 0, length))
    fail(EXIT_WRONG, "a text of %zu bytes, too long or without its NUL; is the family another one?",
         length);
  memcpy(connection->text, nla_data(attribute), length);
  connection->has_text = true;
}

/* Libnl's own requests go out here too. */
static inline int note_sequence(struct nl_msg* message, void* argument) {
  ((struct connection*)argument)->sequence = nlmsg_hdr(message)->nlmsg_seq;
  return NL_OK;
}

static inline int check_sender(struct nl_msg* message, void* argument) {
  (void)argument;
  /* Nobody but the kernel is to be believed. */
  return nlmsg_get_src(message)->nl_pid == 0 ? NL_OK : NL_SKIP;
}

/* Without automatic ACKs libnl leaves this to its caller. */
static inline int check_sequence(struct nl_msg* message, void* argument) {
  const struct connection* connection = argument;
  if (nlmsg_hdr(message)->nlmsg_seq != connection->sequence)
    fail(EXIT_WRONG, "a reply to request %u instead of %u; one socket has one user",
         nlmsg_hdr(message)->nlmsg_seq, connection->sequence);
  return NL_OK;
}

static inline void take_family(struct connection* connection, struct nlmsghdr* header) {
  struct nlattr* attributes[CTRL_ATTR_MAX + 1];
  check_call(genlmsg_parse(header, 0, attributes, CTRL_ATTR_MAX, NULL), "parse the reply");
  if (!attributes[CTRL_ATTR_FAMILY_NAME])
    fail(EXIT_WRONG, "the controller named no family; report it");
  copy_text(connection, attributes[CTRL_ATTR_FAMILY_NAME]);
}

static inline void take_echo(struct connection* connection, struct nlmsghdr* header) {
  static struct nla_policy policy[STRATA_ECHO_A_MAX + 1] = {
      [STRATA_ECHO_A_MSG] = {.type = NLA_STRING, .maxlen = STRATA_ECHO_MSG_MAX + 1},
      [STRATA_ECHO_A_INDEX] = {.type = NLA_U32},
      [STRATA_ECHO_A_SEQUENCE] = {.type = NLA_U32},
  };
  struct nlattr* attributes[STRATA_ECHO_A_MAX + 1];
  check_call(genlmsg_parse(header, 0, attributes, STRATA_ECHO_A_MAX, policy), "parse the reply");
  connection->has_text = false;
  if (attributes[STRATA_ECHO_A_MSG]) copy_text(connection, attributes[STRATA_ECHO_A_MSG]);
  if (attributes[STRATA_ECHO_A_SEQUENCE])
    connection->number = nla_get_u32(attributes[STRATA_ECHO_A_SEQUENCE]);
  if (!(header->nlmsg_flags & NLM_F_MULTI)) return;
  if (!attributes[STRATA_ECHO_A_INDEX] || !connection->has_text ||
      nla_get_u32(attributes[STRATA_ECHO_A_INDEX]) != connection->messages)
    fail(EXIT_WRONG, "message %u of the dump is missing; report it", connection->messages);
  printf("received ECHO_MSG %u \"%s\"\n", connection->messages, connection->text);
}

static inline int take_message(struct nl_msg* message, void* argument) {
  struct connection* connection = argument;
  struct nlmsghdr* header = nlmsg_hdr(message);
  if (header->nlmsg_type != connection->type || !genlmsg_valid_hdr(header, 0) ||
      genlmsg_hdr(header)->cmd != connection->command)
    fail(EXIT_WRONG, "received type %u instead of %d with command %d; is the family another one?",
         header->nlmsg_type, connection->type, connection->command);
  if (connection->type == GENL_ID_CTRL)
    take_family(connection, header);
  else
    take_echo(connection, header);
  connection->messages++;
  return NL_OK;
}

static inline int take_end(struct nl_msg* message, void* argument) {
  struct connection* connection = argument;
  const struct nlmsghdr* header = nlmsg_hdr(message);
  if (header->nlmsg_type == NLMSG_DONE && nlmsg_datalen(header) >= (int)sizeof(int))
    connection->error = *(int*)nlmsg_data(header);
  connection->ended = true;
  return NL_STOP;
}

/* Libnl hands over what NLMSG_ERROR has inside; its header, which says whether an extended ACK
   follows, stands right before it. */
static inline int take_error(struct sockaddr_nl* sender, struct nlmsgerr* error, void* argument) {
  struct connection* connection = argument;
  const struct nlmsghdr* header = (const struct nlmsghdr*)((char*)error - NLMSG_HDRLEN);
  struct nlattr* attributes[NLMSGERR_ATTR_MAX + 1] = {NULL};
  int skip = (int)sizeof(*error);
  (void)sender; /* check_sender saw it */
  if (!(header->nlmsg_flags & NLM_F_CAPPED))
    skip = (int)(sizeof(error->error) + NLMSG_ALIGN(error->msg.nlmsg_len));
  if (header->nlmsg_flags & NLM_F_ACK_TLVS && skip < nlmsg_datalen(header))
    check_call(nla_parse(attributes, NLMSGERR_ATTR_MAX, (struct nlattr*)((char*)error + skip),
                         nlmsg_datalen(header) - skip, NULL),
               "parse the extended ACK");
  if (attributes[NLMSGERR_ATTR_MSG]) copy_text(connection, attributes[NLMSGERR_ATTR_MSG]);
  if (attributes[NLMSGERR_ATTR_OFFS])
    connection->number = nla_get_u32(attributes[NLMSGERR_ATTR_OFFS]);
  connection->error = error->error;
  connection->ended = true;
  return NL_STOP;
}

/* The callbacks keep the pointer: a connection stays where it is. */
static inline void open_connection(struct connection* connection) {
  memset(connection, 0, sizeof(*connection));
  struct nl_sock* sock = connection->sock = nl_socket_alloc();
  if (!sock) fail(EXIT_WRONG, "no memory for a socket; free some");
  check_call(genl_connect(sock), "connect to generic netlink");
  nl_socket_disable_auto_ack(sock); /* an ACK only where it is asked for */
  check_call(nl_socket_set_msg_buf_size(sock, ROOM), "have a buffer");
  nl_socket_modify_cb(sock, NL_CB_MSG_OUT, NL_CB_CUSTOM, note_sequence, connection);
  nl_socket_modify_cb(sock, NL_CB_MSG_IN, NL_CB_CUSTOM, check_sender, connection);
  nl_socket_modify_cb(sock, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, check_sequence, connection);
  nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take_message, connection);
  nl_socket_modify_cb(sock, NL_CB_FINISH, NL_CB_CUSTOM, take_end, connection);
  nl_socket_modify_cb(sock, NL_CB_ACK, NL_CB_CUSTOM, take_end, connection);
  nl_socket_modify_err_cb(sock, NL_CB_CUSTOM, take_error, connection);
}

static inline void set_option(const struct connection* connection, int level, int option,
                              const void* value, socklen_t size, const char* name) {
  if (setsockopt(nl_socket_get_fd(connection->sock), level, option, value, size) < 0)
    fail(EXIT_WRONG, "cannot set %s: %s; it needs Linux 4.12 or newer", name, strerror(errno));
}

static inline void request(struct connection* connection, int type, int flags, int command,
                           int attribute, const char* text) {
  struct nl_msg* message = nlmsg_alloc();
  if (!message || !genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0, flags, (uint8_t)command,
                               STRATA_ECHO_FAMILY_VERSION))
    fail(EXIT_WRONG, "no memory for a message; free some");
  if (text) check_call(nla_put_string(message, attribute, text), "put the text into a message");
  check_call(nl_send_auto(connection->sock, message), "send to the kernel");
  nlmsg_free(message);
}

/* What answers the last request: all of a dump. Errors are left in `error`. */
static inline void receive(struct connection* connection, int type, int command) {
  connection->type = type;
  connection->command = command;
  connection->messages = 0;
  connection->ended = false;
  connection->error = 0;
  connection->has_text = false;
  int result = nl_recvmsgs_default(connection->sock);
  if (result == -NLE_AGAIN)
    fail(EXIT_WRONG, "heard no EVENT for %d s; does NOTIFY reach this network namespace?",
         EVENT_PATIENCE_S);
  if (!connection->ended) check_call(result, "receive");
}

static inline void check_error(const struct connection* connection, int wanted) {
  if (connection->error != wanted)
    fail(EXIT_WRONG, "error %d (%s) instead of %d; see kernel/uapi/strata_echo.h",
         connection->error, connection->has_text ? connection->text : "no text", wanted);
}
