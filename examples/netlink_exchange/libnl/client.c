/*
 * The exchange with strata_echo by libnl-3 and libnl-genl-3, as the library means it: callbacks of
 * the socket (connection.h) see what goes out and what comes in, and nl_recvmsgs_default() calls
 * them. What the family says is in kernel/uapi/strata_echo.h.
 */
#include "connection.h"

static int resolve(struct connection* connection, const char* family) {
  int id = genl_ctrl_resolve(connection->sock, family);
  if (id == -NLE_OBJ_NOTFOUND) fail_without_family(family);
  check_call(id, "resolve the family");
  return id;
}

/* Sends a text, and receives one message with the same. */
static void exchange_text(struct connection* connection, int type, int command, int reply,
                          int attribute, const char* text) {
  request(connection, type, 0, command, attribute, text);
  receive(connection, type, reply);
  check_error(connection, 0);
  if (connection->messages != 1 || !connection->has_text || strcmp(connection->text, text) != 0)
    fail(EXIT_WRONG, "sent '%s', and received %u messages, '%s'; is the family another one?", text,
         connection->messages, connection->has_text ? connection->text : "no text");
}

static void echo(struct connection* connection, int family, const char* text) {
  exchange_text(connection, family, STRATA_ECHO_CMD_ECHO_MSG, STRATA_ECHO_CMD_ECHO_MSG,
                STRATA_ECHO_A_MSG, text);
}

static void ask_controller(struct connection* connection, const char* family) {
  exchange_text(connection, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_CMD_NEWFAMILY,
                CTRL_ATTR_FAMILY_NAME, family);
}

static void dump(struct connection* connection, int family) {
  request(connection, family, NLM_F_DUMP, STRATA_ECHO_CMD_ECHO_MSG, 0, NULL);
  puts("sent ECHO_MSG (dump)");
  receive(connection, family, STRATA_ECHO_CMD_ECHO_MSG);
  check_error(connection, 0);
  if (connection->messages != STRATA_ECHO_DUMP_COUNT || !connection->ended)
    fail(EXIT_WRONG, "the dump has %u messages instead of %d; report it", connection->messages,
         STRATA_ECHO_DUMP_COUNT);
  puts("received NLMSG_DONE");
}

static void be_refused(struct connection* connection, int family, const char* text) {
  request(connection, family, 0, STRATA_ECHO_CMD_REPLY_WITH_NLMSG_ERR, STRATA_ECHO_A_MSG, text);
  printf("sent REPLY_WITH_NLMSG_ERR \"%s\"\n", text);
  receive(connection, family, STRATA_ECHO_CMD_REPLY_WITH_NLMSG_ERR);
  check_error(connection, -EINVAL);
  if (!connection->has_text)
    fail(EXIT_WRONG, "the error has no text; is the kernel older than 4.12?");
  printf("received NLMSG_ERROR %d \"%s\" at offset %u\n", connection->error, connection->text,
         connection->number);
}

/* Events have a socket of their own, so that none comes between a request and its reply. */
static void hear_event(struct connection* connection, int family, int group, const char* text) {
  struct connection listener;
  const struct timeval patience = {.tv_sec = EVENT_PATIENCE_S};
  open_connection(&listener);
  set_option(&listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience), "SO_RCVTIMEO");
  check_call(nl_socket_add_membership(listener.sock, group), "join the group 'events'");
  request(connection, family, NLM_F_ACK, STRATA_ECHO_CMD_NOTIFY, STRATA_ECHO_A_MSG, text);
  printf("sent NOTIFY \"%s\"\n", text);
  receive(connection, NLMSG_ERROR, 0);
  check_error(connection, 0);
  puts("received ACK");
  do /* others' events, and those that nobody asked for, come too */
    receive(&listener, family, STRATA_ECHO_CMD_EVENT);
  while (!listener.has_text || strcmp(listener.text, text) != 0);
  printf("received EVENT %u \"%s\"\n", listener.number, listener.text);
  nl_socket_free(listener.sock);
}

static void demonstrate(const char* name) {
  struct connection connection;
  const int yes = 1;
  open_connection(&connection);
  set_option(&connection, SOL_NETLINK, NETLINK_EXT_ACK, &yes, sizeof(yes), "NETLINK_EXT_ACK");
  int family = resolve(&connection, name);
  int group = genl_ctrl_resolve_grp(connection.sock, name, STRATA_ECHO_GROUP_EVENTS);
  check_call(group, "resolve the group 'events'");
  printf("resolved %s: family %d, group \"events\" %d\n", name, family, group);
  puts("sent ECHO_MSG \"hello\"");
  echo(&connection, family, "hello");
  puts("received ECHO_MSG \"hello\"");
  dump(&connection, family);
  be_refused(&connection, family, "hello");
  hear_event(&connection, family, group, "hello");
  nl_socket_free(connection.sock);
}

static void exchange(struct connection* connection, const struct wanted* wanted, int family) {
  if (wanted->controller)
    ask_controller(connection, wanted->family);
  else
    echo(connection, family, "hello");
}

static void run_once(const struct wanted* wanted) {
  struct connection connection;
  open_connection(&connection);
  exchange(&connection, wanted, resolve(&connection, wanted->family));
  nl_socket_free(connection.sock);
}

static void measure(const struct wanted* wanted) {
  struct times times = make_times(wanted->times);
  struct connection connection;
  open_connection(&connection);
  int family = resolve(&connection, wanted->family);
  for (size_t i = 0; i < times.count; i++) {
    uint64_t start = now_ns();
    run_once(wanted);
    times.whole_ns[i] = now_ns() - start;
    start = now_ns();
    exchange(&connection, wanted, family);
    times.exchange_ns[i] = now_ns() - start;
  }
  nl_socket_free(connection.sock);
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
