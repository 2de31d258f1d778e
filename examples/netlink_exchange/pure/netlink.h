/*
 * Generic netlink on plain sockets: a connection, the messages that go out, and those that come in,
 * each checked before it is believed.
 */
#pragma once

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdalign.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "../command_line.h"

enum { ATTRIBUTES = 16, ROOM = 32768 };

struct message {
  alignas(NLMSG_ALIGNTO) char bytes[ROOM];
};

struct connection {
  int fd;
  uint32_t sequence;
  struct message received; /* the last datagram, and where the next message in it is */
  size_t length;
  size_t at;
};

/* A message that was received. Attributes that are missing, or above the table, are NULL. */
struct reply {
  const struct nlmsghdr* header;
  uint8_t command;
  int error; /* of NLMSG_ERROR, 0 is an ACK; and of NLMSG_DONE */
  const struct nlattr* attributes[ATTRIBUTES];
};

static inline void* data_of(const struct nlattr* attribute) {
  return (char*)attribute + NLA_HDRLEN;
}

static inline size_t length_of(const struct nlattr* attribute) {
  return attribute->nla_len - NLA_HDRLEN;
}

/* Not bound: the first send does that too. */
static inline void open_connection(struct connection* connection) {
  connection->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
  if (connection->fd < 0)
    fail(EXIT_WRONG, "cannot open a netlink socket: %s; is AF_NETLINK forbidden here (seccomp)?",
         strerror(errno));
  connection->sequence = 0;
  connection->length = 0;
  connection->at = 0;
}

static inline void set_option(const struct connection* connection, int option, uint32_t value,
                              const char* name) {
  if (setsockopt(connection->fd, SOL_NETLINK, option, &value, sizeof(value)) < 0)
    fail(EXIT_WRONG, "cannot set %s to %u: %s; it needs Linux 4.12 or newer", name, value,
         strerror(errno));
}

static inline void wait_at_most(const struct connection* connection, int seconds) {
  const struct timeval patience = {.tv_sec = seconds};
  if (setsockopt(connection->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
    fail(EXIT_WRONG, "cannot set SO_RCVTIMEO to %d s: %s", seconds, strerror(errno));
}

/* Bound first: what is not has port 0, which the kernel takes for the sender, who hears nothing. */
static inline void join(const struct connection* connection, uint32_t group) {
  const struct sockaddr_nl chosen_by_kernel = {.nl_family = AF_NETLINK};
  if (bind(connection->fd, (const struct sockaddr*)&chosen_by_kernel, sizeof(chosen_by_kernel)) < 0)
    fail(EXIT_WRONG, "cannot bind a netlink socket: %s; are there too many?", strerror(errno));
  set_option(connection, NETLINK_ADD_MEMBERSHIP, group, "NETLINK_ADD_MEMBERSHIP");
}

static inline void begin(struct message* message, uint16_t type, uint16_t flags, uint8_t command) {
  struct nlmsghdr* header = (struct nlmsghdr*)message->bytes;
  *header = (struct nlmsghdr){.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN,
                              .nlmsg_type = type,
                              .nlmsg_flags = NLM_F_REQUEST | flags};
  *(struct genlmsghdr*)NLMSG_DATA(header) = (struct genlmsghdr){.cmd = command, .version = 1};
}

static inline void put_text(struct message* message, uint16_t type, const char* text) {
  struct nlmsghdr* header = (struct nlmsghdr*)message->bytes;
  size_t length = NLA_HDRLEN + strlen(text) + 1;
  size_t end = NLMSG_ALIGN(header->nlmsg_len) + NLA_ALIGN(length);
  if (length > UINT16_MAX || end > ROOM)
    fail(EXIT_WRONG, "a text of %zu bytes does not fit in a message; shorten it", strlen(text));
  struct nlattr* attribute = (struct nlattr*)(message->bytes + NLMSG_ALIGN(header->nlmsg_len));
  *attribute = (struct nlattr){.nla_len = (uint16_t)length, .nla_type = type};
  memset(data_of(attribute), 0, NLA_ALIGN(length) - NLA_HDRLEN);
  memcpy(data_of(attribute), text, strlen(text));
  header->nlmsg_len = (uint32_t)end;
}

static inline void send_message(struct connection* connection, struct message* message) {
  struct nlmsghdr* header = (struct nlmsghdr*)message->bytes;
  header->nlmsg_seq = ++connection->sequence;
  if (send(connection->fd, header, header->nlmsg_len, 0) < 0)
    fail(EXIT_WRONG, "cannot send %u bytes to the kernel: %s", header->nlmsg_len, strerror(errno));
}

/* Fills `attributes`; what is cut or too short is the kernel's mistake, and ends the program. */
static inline void parse_attributes(const char* at, size_t length,
                                    const struct nlattr** attributes) {
  while (length >= NLA_HDRLEN) {
    const struct nlattr* attribute = (const struct nlattr*)at;
    if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > length)
      fail(EXIT_WRONG, "an attribute of %u bytes in the %zu that are left; report it",
           attribute->nla_len, length);
    if ((attribute->nla_type & NLA_TYPE_MASK) < ATTRIBUTES)
      attributes[attribute->nla_type & NLA_TYPE_MASK] = attribute;
    size_t step = NLA_ALIGN(attribute->nla_len);
    if (step > length) return;
    at += step;
    length -= step;
  }
}

static inline void receive_datagram(struct connection* connection) {
  struct sockaddr_nl sender = {0};
  socklen_t size = sizeof(sender);
  ssize_t length;
  do {
    length = recvfrom(connection->fd, connection->received.bytes, ROOM, MSG_TRUNC,
                      (struct sockaddr*)&sender, &size);
    if (length < 0 && errno == EAGAIN)
      fail(EXIT_WRONG, "heard nothing in the time given; is somebody sending what is awaited?");
    if (length < 0) fail(EXIT_WRONG, "cannot receive from the kernel: %s", strerror(errno));
  } while (sender.nl_pid != 0); /* another process's: nobody but the kernel is to be believed */
  if (length > ROOM)
    fail(EXIT_WRONG, "a datagram of %zd bytes, over the %d of ROOM; enlarge it", length, ROOM);
  connection->length = (size_t)length;
  connection->at = 0;
}

/* In NLMSG_ERROR the request, or its header only, stands before the attributes. */
static inline void parse_error(struct reply* reply, const char* payload, size_t length) {
  const struct nlmsgerr* error = (const struct nlmsgerr*)payload;
  if (length < sizeof(*error)) fail(EXIT_WRONG, "an NLMSG_ERROR of %zu bytes; report it", length);
  reply->error = error->error;
  size_t skip = sizeof(*error);
  if (!(reply->header->nlmsg_flags & NLM_F_CAPPED))
    skip = sizeof(error->error) + NLMSG_ALIGN(error->msg.nlmsg_len);
  if (reply->header->nlmsg_flags & NLM_F_ACK_TLVS && skip <= length)
    parse_attributes(payload + skip, length - skip, reply->attributes);
}

/* The next message, be it of the last datagram or of the next. It lives until the next call. */
static inline struct reply receive(struct connection* connection) {
  if (connection->at >= connection->length) receive_datagram(connection);
  size_t left = connection->length - connection->at;
  const char* start = connection->received.bytes + connection->at;
  struct reply reply = {.header = (const struct nlmsghdr*)start};
  if (left < NLMSG_HDRLEN || reply.header->nlmsg_len < NLMSG_HDRLEN ||
      reply.header->nlmsg_len > left)
    fail(EXIT_WRONG, "a message that is cut, %zu bytes are left of it; report it", left);
  connection->at += NLMSG_ALIGN(reply.header->nlmsg_len);
  const char* payload = NLMSG_DATA(reply.header);
  size_t length = reply.header->nlmsg_len - NLMSG_HDRLEN;
  if (reply.header->nlmsg_type == NLMSG_ERROR) {
    parse_error(&reply, payload, length);
  } else if (reply.header->nlmsg_type == NLMSG_DONE) {
    if (length >= sizeof(int)) reply.error = *(const int*)payload;
  } else {
    if (length < GENL_HDRLEN) fail(EXIT_WRONG, "a message without its generic header; report it");
    reply.command = ((const struct genlmsghdr*)payload)->cmd;
    parse_attributes(payload + GENL_HDRLEN, length - GENL_HDRLEN, reply.attributes);
  }
  return reply;
}

static inline const char* text_in(const struct reply* reply, int type) {
  const struct nlattr* attribute = reply->attributes[type];
  if (!attribute || !memchr(data_of(attribute), 0, length_of(attribute)))
    fail(EXIT_WRONG, "attribute %d of command %u is no text; is the family another one?", type,
         reply->command);
  return data_of(attribute);
}

static inline uint32_t number_in(const struct reply* reply, int type, size_t size) {
  const struct nlattr* attribute = reply->attributes[type];
  if (!attribute || length_of(attribute) != size)
    fail(EXIT_WRONG, "attribute %d of command %u is no number of %zu bytes; is the family another?",
         type, reply->command, size);
  return size == sizeof(uint16_t) ? *(uint16_t*)data_of(attribute) : *(uint32_t*)data_of(attribute);
}

/* It is to answer the last request, and be of this type. */
static inline struct reply check(const struct connection* connection, struct reply reply,
                                 uint16_t type, uint8_t command) {
  if (reply.header->nlmsg_seq != connection->sequence)
    fail(EXIT_WRONG, "a reply to request %u instead of %u; one socket has one user",
         reply.header->nlmsg_seq, connection->sequence);
  if (reply.header->nlmsg_type != type && reply.header->nlmsg_type == NLMSG_ERROR)
    fail(EXIT_WRONG, "the kernel refused: %s (%s); see kernel/uapi/strata_echo.h",
         strerror(-reply.error),
         reply.attributes[NLMSGERR_ATTR_MSG] ? text_in(&reply, NLMSGERR_ATTR_MSG) : "no text");
  if (reply.header->nlmsg_type != type || (type >= NLMSG_MIN_TYPE && reply.command != command))
    fail(EXIT_WRONG, "received type %u command %u instead of %u and %u; is the family another one?",
         reply.header->nlmsg_type, reply.command, type, command);
  return reply;
}

static inline struct reply expect(struct connection* connection, uint16_t type, uint8_t command) {
  return check(connection, receive(connection), type, command);
}
