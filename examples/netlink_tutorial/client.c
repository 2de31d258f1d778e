/* A generic netlink client on plain sockets. It shows each byte that it sends to a family and hears
 * from it:
 *
 *   client FAMILY COMMAND [NUMBER=TEXT]...             asks
 *   client -d FAMILY COMMAND                           asks for a dump
 *   client -l GROUP FAMILY COMMAND [NUMBER=TEXT]...    asks, then hears what the group was told
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "show.h"

enum { ROOM = 32768 };

struct message {
  alignas(NLMSG_ALIGNTO) char bytes[ROOM];
};

_Noreturn static void die(const char* what) {
  fprintf(stderr, "client: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int open_socket(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
  struct sockaddr_nl own = {.nl_family = AF_NETLINK}; /* the kernel chooses the port */
  int on = 1;
  if (fd < 0 || bind(fd, (struct sockaddr*)&own, sizeof(own)) < 0) die("socket");
  if (setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)) < 0 ||
      setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on)) < 0)
    die("setsockopt");
  return fd;
}

static void begin(struct message* message, int type, int flags, int command) {
  static unsigned sequence;
  struct nlmsghdr* header = (struct nlmsghdr*)message->bytes;
  *header = (struct nlmsghdr){.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
                              .nlmsg_type = (unsigned short)type,
                              .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags),
                              .nlmsg_seq = ++sequence};
  *(struct genlmsghdr*)NLMSG_DATA(header) =
      (struct genlmsghdr){.cmd = (unsigned char)command, .version = 1};
}

static void put_text(struct message* message, int type, const char* text) {
  struct nlmsghdr* header = (struct nlmsghdr*)message->bytes;
  struct nlattr* attribute = (struct nlattr*)(message->bytes + header->nlmsg_len);
  size_t length = NLA_HDRLEN + strlen(text) + 1; /* a text ends with a NUL */
  if (header->nlmsg_len + NLA_ALIGN(length) > ROOM) errno = EMSGSIZE, die("put_text");
  memset(attribute, 0, NLA_ALIGN(length));
  attribute->nla_len = (unsigned short)length;
  attribute->nla_type = (unsigned short)type;
  memcpy((char*)attribute + NLA_HDRLEN, text, strlen(text));
  header->nlmsg_len += NLA_ALIGN(length); /* the next one begins at a multiple of four */
}

static void send_message(int fd, const struct message* message) {
  const struct nlmsghdr* header = (const struct nlmsghdr*)message->bytes;
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK}; /* its port is 0 */
  if (sendto(fd, header, header->nlmsg_len, 0, (struct sockaddr*)&kernel, sizeof(kernel)) < 0)
    die("sendto");
}

/* The bytes that came: one message, or several. */
static size_t receive(int fd, struct message* message) {
  for (;;) {
    struct sockaddr_nl sender = {0};
    socklen_t size = sizeof(sender);
    ssize_t length =
        recvfrom(fd, message->bytes, ROOM, MSG_TRUNC, (struct sockaddr*)&sender, &size);
    if (length > ROOM) errno = EMSGSIZE;
    if (length < 0 || length > ROOM) die("recvfrom");
    if (sender.nl_pid == 0) return (size_t)length; /* other programs may send messages too */
  }
}

static const void* data_of(const struct nlattr* attribute) {
  return (const char*)attribute + NLA_HDRLEN;
}

static size_t length_of(const struct nlattr* attribute) { return attribute->nla_len - NLA_HDRLEN; }

/* The first attribute of a type in `length` bytes, or NULL. */
static const struct nlattr* find(const char* at, size_t length, int type) {
  while (length >= NLA_HDRLEN) {
    const struct nlattr* attribute = (const struct nlattr*)at;
    size_t step = NLA_ALIGN(attribute->nla_len);
    if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > length) return NULL;
    if ((attribute->nla_type & NLA_TYPE_MASK) == type) return attribute;
    if (step >= length) return NULL;
    at += step;
    length -= step;
  }
  return NULL;
}

/* In a nest of nests, which are numbered from 1: each has a group's name and number. */
static unsigned group_number(const struct nlattr* groups, const char* wanted) {
  const struct nlattr* each;
  for (int i = 1; (each = find(data_of(groups), length_of(groups), i)) != NULL; ++i) {
    const struct nlattr* name = find(data_of(each), length_of(each), CTRL_ATTR_MCAST_GRP_NAME);
    const struct nlattr* number = find(data_of(each), length_of(each), CTRL_ATTR_MCAST_GRP_ID);
    if (name && number && !strcmp(data_of(name), wanted)) return *(unsigned*)data_of(number);
  }
  errno = ENOENT;
  die(wanted);
}

/* Asks the controller for the family's number, and joins its group if one is wanted. */
static int resolve(int fd, const char* family, const char* group) {
  struct message message;
  const struct nlmsghdr* header = (const struct nlmsghdr*)message.bytes;
  begin(&message, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
  put_text(&message, CTRL_ATTR_FAMILY_NAME, family);
  send_message(fd, &message);
  size_t length = receive(fd, &message);
  if (header->nlmsg_type == NLMSG_ERROR) errno = -*(int*)NLMSG_DATA(header), die(family);

  const char* first = message.bytes + NLMSG_LENGTH(GENL_HDRLEN);
  length -= NLMSG_LENGTH(GENL_HDRLEN);
  const struct nlattr* groups = find(first, length, CTRL_ATTR_MCAST_GROUPS);
  if (group && groups) {
    unsigned number = group_number(groups, group);
    if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &number, sizeof(number)) < 0)
      die("NETLINK_ADD_MEMBERSHIP");
  }
  return *(unsigned short*)data_of(find(first, length, CTRL_ATTR_FAMILY_ID));
}

/* Shows what comes until an NLMSG_ERROR, which is also an ACK, or the end of a dump. */
static int show_answer(int fd) {
  struct message message;
  for (;;) {
    int left = (int)receive(fd, &message);
    const struct nlmsghdr* header = (const struct nlmsghdr*)message.bytes;
    for (; NLMSG_OK(header, (unsigned)left); header = NLMSG_NEXT(header, left)) {
      show_message("received", header);
      if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE)
        return *(int*)NLMSG_DATA(header) == 0 ? 0 : 1;
    }
  }
}

int main(int argc, char** argv) {
  const char* group = NULL;
  int flags = NLM_F_ACK, option;
  while ((option = getopt(argc, argv, "dl:")) != -1) {
    if (option == 'd') flags = NLM_F_DUMP;
    if (option == 'l') group = optarg;
  }
  if (argc - optind < 2)
    return fprintf(stderr, "usage: client [-d | -l GROUP] FAMILY COMMAND [NUMBER=TEXT]...\n"), 2;

  int fd = open_socket(), listener = open_socket();
  struct message request;
  begin(&request, resolve(fd, argv[optind], NULL), flags, atoi(argv[optind + 1]));
  if (group) resolve(listener, argv[optind], group);
  for (int i = optind + 2; i < argc; ++i) {
    char* text = strchr(argv[i], '=');
    put_text(&request, atoi(argv[i]), text ? text + 1 : "");
  }
  show_message("sent", (struct nlmsghdr*)request.bytes);
  send_message(fd, &request);
  int refused = show_answer(fd);
  if (group && !refused) {
    receive(listener, &request);
    show_message("the group heard", (struct nlmsghdr*)request.bytes);
  }
  return refused;
}
