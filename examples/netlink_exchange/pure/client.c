/*
 * The exchange with strata_echo on plain sockets, without a library: netlink.h has all that a
 * library would do. What the family says is in kernel/uapi/strata_echo.h.
 */
#include <unistd.h>

#include "../../../kernel/uapi/strata_echo.h"
#include "../command_line.h"
#include "netlink.h"

enum { EVENT_PATIENCE_S = 5 };

/* What the controller says of a family. */
static struct reply ask_controller(struct connection* connection, const char* family) {
  struct message request;
  begin(&request, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
  put_text(&request, CTRL_ATTR_FAMILY_NAME, family);
  send_message(connection, &request);
  struct reply reply = receive(connection);
  if (reply.header->nlmsg_type == NLMSG_ERROR && reply.error == -ENOENT)
    fail_without_family(family);
  check(connection, reply, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
  if (strcmp(text_in(&reply, CTRL_ATTR_FAMILY_NAME), family) != 0)
    fail(EXIT_WRONG, "asked for family '%s', and heard of '%s'; report it", family,
         text_in(&reply, CTRL_ATTR_FAMILY_NAME));
  return reply;
}

static uint16_t resolve(struct connection* connection, const char* family) {
  struct reply reply = ask_controller(connection, family);
  return (uint16_t)number_in(&reply, CTRL_ATTR_FAMILY_ID, sizeof(uint16_t));
}

/* Groups are nests in a nest, numbered from 1. */
static uint32_t find_group(const struct reply* family, const char* name) {
  const struct nlattr* groups[ATTRIBUTES] = {NULL};
  const struct nlattr* nest = family->attributes[CTRL_ATTR_MCAST_GROUPS];
  if (nest) parse_attributes(data_of(nest), length_of(nest), groups);
  for (int number = 0; number < ATTRIBUTES; number++) {
    if (!groups[number]) continue;
    struct reply group = {.command = family->command};
    parse_attributes(data_of(groups[number]), length_of(groups[number]), group.attributes);
    if (!strcmp(text_in(&group, CTRL_ATTR_MCAST_GRP_NAME), name))
      return number_in(&group, CTRL_ATTR_MCAST_GRP_ID, sizeof(uint32_t));
  }
  fail(EXIT_WRONG, "the family has no group '%s'; is it another one?", name);
}

static void request(struct connection* connection, uint16_t family, uint16_t flags, uint8_t command,
                    const char* text) {
  struct message message;
  begin(&message, family, flags, command);
  if (text) put_text(&message, STRATA_ECHO_A_MSG, text);
  send_message(connection, &message);
}

static void echo(struct connection* connection, uint16_t family, const char* text) {
  request(connection, family, 0, STRATA_ECHO_CMD_ECHO_MSG, text);
  struct reply reply = expect(connection, family, STRATA_ECHO_CMD_ECHO_MSG);
  if (strcmp(text_in(&reply, STRATA_ECHO_A_MSG), text) != 0)
    fail(EXIT_WRONG, "sent '%s', and received '%s'; is the family another one?", text,
         text_in(&reply, STRATA_ECHO_A_MSG));
}

static void dump(struct connection* connection, uint16_t family) {
  request(connection, family, NLM_F_DUMP, STRATA_ECHO_CMD_ECHO_MSG, NULL);
  puts("sent ECHO_MSG (dump)");
  for (uint32_t index = 0; index < STRATA_ECHO_DUMP_COUNT; index++) {
    struct reply reply = expect(connection, family, STRATA_ECHO_CMD_ECHO_MSG);
    if (number_in(&reply, STRATA_ECHO_A_INDEX, sizeof(uint32_t)) != index)
      fail(EXIT_WRONG, "message %u of the dump is missing; report it", index);
    printf("received ECHO_MSG %u \"%s\"\n", index, text_in(&reply, STRATA_ECHO_A_MSG));
  }
  struct reply done = expect(connection, NLMSG_DONE, 0);
  if (done.error)
    fail(EXIT_WRONG, "the dump ended early: %s; ask for it again", strerror(-done.error));
  puts("received NLMSG_DONE");
}

static void be_refused(struct connection* connection, uint16_t family, const char* text) {
  request(connection, family, 0, STRATA_ECHO_CMD_REPLY_WITH_NLMSG_ERR, text);
  printf("sent REPLY_WITH_NLMSG_ERR \"%s\"\n", text);
  struct reply reply = expect(connection, NLMSG_ERROR, 0);
  if (reply.error != -EINVAL)
    fail(EXIT_WRONG, "expected error %d, received %d; is the family another one?", -EINVAL,
         reply.error);
  printf("received NLMSG_ERROR %d \"%s\" at offset %u\n", reply.error,
         text_in(&reply, NLMSGERR_ATTR_MSG),
         number_in(&reply, NLMSGERR_ATTR_OFFS, sizeof(uint32_t)));
}

/* Events have a socket of their own, so that none comes between a request and its reply. */
static void hear_event(struct connection* connection, uint16_t family, uint32_t group,
                       const char* text) {
  struct connection listener;
  open_connection(&listener);
  wait_at_most(&listener, EVENT_PATIENCE_S);
  join(&listener, group);
  request(connection, family, NLM_F_ACK, STRATA_ECHO_CMD_NOTIFY, text);
  printf("sent NOTIFY \"%s\"\n", text);
  if (expect(connection, NLMSG_ERROR, 0).error)
    fail(EXIT_WRONG, "NOTIFY was refused; see kernel/uapi/strata_echo.h");
  puts("received ACK");
  for (;;) {
    struct reply event = receive(&listener);
    if (event.header->nlmsg_type != family || event.command != STRATA_ECHO_CMD_EVENT)
      fail(EXIT_WRONG, "type %u command %u is no EVENT; is the family another one?",
           event.header->nlmsg_type, event.command);
    /* Others' events, and those that nobody asked for, come too. */
    if (!event.attributes[STRATA_ECHO_A_MSG] ||
        strcmp(text_in(&event, STRATA_ECHO_A_MSG), text) != 0)
      continue;
    printf("received EVENT %u \"%s\"\n",
           number_in(&event, STRATA_ECHO_A_SEQUENCE, sizeof(uint32_t)), text);
    break;
  }
  close(listener.fd);
}

static void demonstrate(const char* name) {
  struct connection connection;
  open_connection(&connection);
  set_option(&connection, NETLINK_EXT_ACK, 1, "NETLINK_EXT_ACK");
  struct reply found = ask_controller(&connection, name);
  uint16_t family = (uint16_t)number_in(&found, CTRL_ATTR_FAMILY_ID, sizeof(uint16_t));
  uint32_t group = find_group(&found, STRATA_ECHO_GROUP_EVENTS);
  printf("resolved %s: family %u, group \"events\" %u\n", name, family, group);
  puts("sent ECHO_MSG \"hello\"");
  echo(&connection, family, "hello");
  puts("received ECHO_MSG \"hello\"");
  dump(&connection, family);
  be_refused(&connection, family, "hello");
  hear_event(&connection, family, group, "hello");
  close(connection.fd);
}

static void exchange(struct connection* connection, const struct wanted* wanted, uint16_t family) {
  if (wanted->controller)
    ask_controller(connection, wanted->family);
  else
    echo(connection, family, "hello");
}

static void run_once(const struct wanted* wanted) {
  struct connection connection;
  open_connection(&connection);
  exchange(&connection, wanted, resolve(&connection, wanted->family));
  close(connection.fd);
}

static void measure(const struct wanted* wanted) {
  struct times times = make_times(wanted->times);
  struct connection connection;
  open_connection(&connection);
  uint16_t family = resolve(&connection, wanted->family);
  for (size_t i = 0; i < times.count; i++) {
    uint64_t start = now_ns();
    run_once(wanted);
    times.whole_ns[i] = now_ns() - start;
    start = now_ns();
    exchange(&connection, wanted, family);
    times.exchange_ns[i] = now_ns() - start;
  }
  close(connection.fd);
  print_times(times);
}

int main(int count, char** words) {
  struct wanted wanted = parse_command_line(count, words);
  switch (wanted.verb) {
    case DEMO: demonstrate(wanted.family); break;
    case ONCE: run_once(&wanted); break;
    case TIME: measure(&wanted); break;
  }
  return 0;
}
