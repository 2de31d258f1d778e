// The C ABI of netlink: translates to the C++ library and back, without decisions of its own.
#include "strata/strata_nl.h"

#include <linux/genetlink.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <new>
#include <string>

#include "abi/error.hpp"
#include "abi/options.hpp"
#include "abi/strata_nl.hpp"
#include "strata/nl/generic.hpp"
#include "strata/nl/route.hpp"

namespace {

namespace nl = strata::nl;
namespace wire = strata::wire;
using strata::abi::fail;
using strata::abi::fail_missing;

struct listed_family {
  nl::generic_family within;
  std::vector<strata_nl_operation> operations;
  std::vector<strata_nl_group> groups;
  strata_nl_family shown{};
};

strata_nl_attributes show(strata::byte_span bytes) { return {bytes.data(), bytes.size()}; }

strata_nl_link show(const nl::link& link) {
  strata_nl_link made{.index = link.index,
                      .peer = link.peer.value_or(0),
                      .name = link.name.c_str(),
                      .kind = link.kind.c_str(),
                      .mtu = link.mtu,
                      .flags = link.flags,
                      .mac = {}};
  std::ranges::copy(link.mac.octets(), made.mac);
  return made;
}

}  // namespace

struct strata_nl_families {
  std::vector<listed_family> all;
};
struct strata_nl_links {
  std::vector<nl::link> all;
  std::vector<strata_nl_link> shown;
};
struct strata_nl_watch {
  nl::route_watch within;
  nl::link last;
  strata_nl_link shown{};
};

namespace {

static_assert(STRATA_NL_NEEDS_ADMIN == GENL_ADMIN_PERM && STRATA_NL_CAN_DO == GENL_CMD_CAP_DO &&
              STRATA_NL_CAN_DUMP == GENL_CMD_CAP_DUMP &&
              STRATA_NL_HAS_POLICY == GENL_CMD_CAP_HASPOL &&
              STRATA_NL_NEEDS_UNS_ADMIN == GENL_UNS_ADMIN_PERM);
static_assert(STRATA_NL_ACK == wire::netlink_flag::ack);

strata::result<nl::connection_options> options_of(const strata_nl_options* given) {
  constexpr std::uint32_t least = 1U << 10U;
  constexpr std::uint32_t most = 1U << 24U;
  const auto from = strata::abi::known(given, strata_nl_defaults);
  if (from.largest_message < least || from.largest_message > most) {
    return strata::failure(strata::errc::invalid_argument,
                           "open a netlink connection for messages of " +
                               std::to_string(from.largest_message) + " bytes",
                           "the size must be 1 KiB to 16 MiB");
  }
  return nl::connection_options{
      .extended_acks = from.extended_acks != 0,
      .receive_buffer = from.receive_buffer,
      .largest_message = from.largest_message,
      .patience = std::chrono::milliseconds(std::min<std::uint32_t>(from.patience_ms, INT32_MAX))};
}

template <class Handle, class... Parts>
int hand_over(Handle** handle, Parts... parts) {
  *handle = new (std::nothrow) Handle{std::move(parts)...};
  return *handle == nullptr ? fail(strata::system_error(ENOMEM, "allocate a handle")) : 0;
}

/// Stores the failure for strata_nl_last_failure; returns -errno.
int refuse(strata_nl* connection, strata::error failed) {
  if (failed.operation.empty()) {
    failed.operation = "call command " + std::to_string(connection->command) +
                       " of generic netlink family " + std::to_string(connection->family);
  }
  const int code = fail(failed);
  connection->failure_text = std::move(failed.reason);
  connection->failure = {.error_number = failed.sys_errno,
                         .offset = failed.offset ? static_cast<std::int64_t>(*failed.offset) : -1,
                         .text = connection->failure_text.c_str()};
  return code;
}

int refuse_cut(strata_nl* connection) {
  return refuse(connection,
                {.code = strata::errc::malformed, .reason = "the kernel's message is truncated"});
}

/// Checks that a request was begun: otherwise the memory holds the remains of another call.
int check_request(strata_nl* connection) {
  if (connection->has_request) return 0;
  return refuse(connection, {.code = strata::errc::invalid_argument,
                             .operation = "query a generic netlink family",
                             .reason = "no request was started, or another call replaced it"});
}

/// Returns nullopt if the message is truncated.
std::optional<strata_nl_message> read(const wire::netlink_message& message) {
  strata_nl_message made{.family = message.header().type, .flags = message.header().flags};
  made.is_ack = static_cast<std::uint8_t>(message.is(wire::netlink_control::error));
  if (made.is_ack != 0) return made;
  const auto generic = wire::genl_message::parse(message);
  if (!generic) return {};
  made.command = generic->command;
  made.version = generic->version;
  made.attributes = show(generic->attributes.bytes());
  return made;
}

std::uint32_t flags_of(const nl::generic_operation& operation) {
  return (operation.needs_admin ? STRATA_NL_NEEDS_ADMIN : 0U) |
         (operation.can_do ? STRATA_NL_CAN_DO : 0U) |
         (operation.can_dump ? STRATA_NL_CAN_DUMP : 0U) |
         (operation.has_policy ? STRATA_NL_HAS_POLICY : 0U) |
         (operation.needs_uns_admin ? STRATA_NL_NEEDS_UNS_ADMIN : 0U);
}

/// Fills in the C structure, once the family does not move any more.
void show(listed_family& family) {
  const auto& of = family.within;
  for (const auto& each : of.operations) {
    family.operations.push_back({each.command, flags_of(each)});
  }
  for (const auto& each : of.groups) family.groups.push_back({each.name.c_str(), each.id});
  family.shown = {.name = of.name.c_str(),
                  .id = of.id,
                  .version = of.version,
                  .header_size = of.header_size,
                  .max_attribute = of.max_attribute,
                  .operations = family.operations.data(),
                  .operation_count = family.operations.size(),
                  .groups = family.groups.data(),
                  .group_count = family.groups.size()};
}

template <class One>
strata::result<std::vector<One>> list_of(strata::result<One> one) {
  if (!one) return std::unexpected(std::move(one.error()));
  std::vector<One> made;
  made.push_back(std::move(*one));
  return made;
}

strata::result<std::vector<nl::link>> ask_links(const char* name) {
  auto on = nl::route::open();
  if (!on) return std::unexpected(std::move(on.error()));
  return name == nullptr ? on->links() : list_of(on->link_named(name));
}

/// Returns the kind of a link event, and moves the link to `link`; 0 for other events.
int take_link(nl::route_event& event, nl::link& link) {
  if (auto* const changed = std::get_if<nl::link_changed>(&event)) {
    link = std::move(changed->now);
    return STRATA_NL_LINK_CHANGED;
  }
  if (auto* const removed = std::get_if<nl::link_removed>(&event)) {
    link = std::move(removed->last);
    return STRATA_NL_LINK_REMOVED;
  }
  return 0;
}

/// A wait's deadline, from now on; below 0 means forever.
class patience {
 public:
  explicit patience(int timeout_ms)
      : is_endless_(timeout_ms < 0),
        until_(clock::now() + std::chrono::milliseconds(std::max(timeout_ms, 0))) {}

  /// Returns false if the time is over and there is nothing to read.
  [[nodiscard]] bool wait(int fd) const {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - clock::now());
      if (!is_endless_ && left.count() <= 0) return false;
      pollfd ready{fd, POLLIN, 0};
      if (::poll(&ready, 1, is_endless_ ? -1 : static_cast<int>(left.count())) > 0) return true;
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  bool is_endless_;
  clock::time_point until_;
};

}  // namespace

// --- the connection

void strata_nl_defaults(strata_nl_options* options) {
  const nl::connection_options usual;
  *options = {.size = sizeof *options,
              .receive_buffer = 0,
              .patience_ms = static_cast<std::uint32_t>(usual.patience.count()),
              .largest_message = static_cast<std::uint32_t>(usual.largest_message),
              .extended_acks = static_cast<std::uint8_t>(usual.extended_acks)};
}

int strata_nl_open(const strata_nl_options* options, strata_nl** connection) {
  if (connection == nullptr) return fail_missing("the output pointer for a netlink connection");
  const auto wanted = options_of(options);
  if (!wanted) return fail(wanted.error());
  auto made = nl::generic::open(*wanted);
  if (!made) return fail(made.error());
  return hand_over(connection, std::move(*made));
}

void strata_nl_close(strata_nl* connection) { delete connection; }

int strata_nl_fd(const strata_nl* connection) { return connection->within.over().fd(); }

const strata_nl_failure* strata_nl_last_failure(const strata_nl* connection) {
  return &connection->failure;
}

// --- families

int strata_nl_resolve(strata_nl* connection, const char* name, uint16_t* family) {
  if (name == nullptr || family == nullptr) return fail_missing("the name of a family");
  connection->has_request = false;
  const auto found = connection->within.resolve(name);
  if (!found) return refuse(connection, found.error());
  *family = *found;
  return 0;
}

int strata_nl_families_open(strata_nl* connection, const char* name,
                            strata_nl_families** families) {
  if (families == nullptr) return fail_missing("the output pointer for families");
  connection->has_request = false;
  auto found =
      name == nullptr ? connection->within.families() : list_of(connection->within.family(name));
  if (!found) return refuse(connection, found.error());
  auto made = std::make_unique<strata_nl_families>();
  for (auto& each : *found) made->all.push_back({.within = std::move(each)});
  for (auto& each : made->all) show(each);
  *families = made.release();
  return 0;
}

void strata_nl_families_close(strata_nl_families* families) { delete families; }

size_t strata_nl_families_count(const strata_nl_families* families) { return families->all.size(); }

const strata_nl_family* strata_nl_families_at(const strata_nl_families* families, size_t index) {
  return index < families->all.size() ? &families->all[index].shown : nullptr;
}

// --- requests

void strata_nl_begin(strata_nl* connection, uint16_t family, uint8_t command, uint8_t version) {
  connection->request = connection->within.over().request();
  wire::begin_genl(connection->request, family, wire::netlink_flag::request, command, version);
  connection->has_request = true;
  connection->family = family;
  connection->command = command;
}

void strata_nl_add_flags(strata_nl* connection, uint16_t flags) {
  connection->request.add_flags(flags);
}

void strata_nl_put_header(strata_nl* connection, const void* header, size_t size) {
  connection->request.put_header({static_cast<const std::byte*>(header), size});
}

void strata_nl_put_flag(strata_nl* connection, uint16_t type) { connection->request.put(type, {}); }

void strata_nl_put_u8(strata_nl* connection, uint16_t type, uint8_t value) {
  connection->request.put_number(type, value);
}

void strata_nl_put_u16(strata_nl* connection, uint16_t type, uint16_t value) {
  connection->request.put_number(type, value);
}

void strata_nl_put_u32(strata_nl* connection, uint16_t type, uint32_t value) {
  connection->request.put_number(type, value);
}

void strata_nl_put_u64(strata_nl* connection, uint16_t type, uint64_t value) {
  connection->request.put_number(type, value);
}

void strata_nl_put_text(strata_nl* connection, uint16_t type, const char* text, size_t size) {
  connection->request.put_text(type, {text, size});
}

void strata_nl_put_bytes(strata_nl* connection, uint16_t type, const void* bytes, size_t size) {
  connection->request.put(type, {static_cast<const std::byte*>(bytes), size});
}

void strata_nl_open_nest(strata_nl* connection, uint16_t type) {
  connection->request.open_nest(type);
}

void strata_nl_close_nest(strata_nl* connection) { connection->request.close_nest(); }

int strata_nl_ask(strata_nl* connection, const strata_nl_message** reply) {
  if (const int code = check_request(connection); code != 0) return code;
  auto answered = connection->within.over().ask(connection->request, {});
  if (!answered) return refuse(connection, std::move(answered.error()));
  const auto message = read(*answered);
  if (!message) return refuse_cut(connection);
  connection->message = *message;
  if (reply != nullptr) *reply = &connection->message;
  return 0;
}

const void* strata_nl_cookie(const strata_nl* connection, size_t* size) {
  const auto bytes = connection->within.over().cookie();
  *size = bytes.size();
  return bytes.data();
}

int strata_nl_dump(strata_nl* connection,
                   void (*each)(void* context, const strata_nl_message* message), void* context) {
  if (each == nullptr) return fail_missing("a function for a dump's messages");
  if (const int code = check_request(connection); code != 0) return code;
  connection->request.add_flags(wire::netlink_flag::dump);
  auto done = connection->within.over().dump(connection->request, {},
                                             [&](const wire::netlink_message& message) {
                                               if (const auto made = read(message))
                                                 each(context, &*made);
                                             });
  return done ? 0 : refuse(connection, std::move(done.error()));
}

// --- multicast

int strata_nl_join(strata_nl* connection, uint32_t group) {
  auto done = connection->within.over().join(group);
  return done ? 0 : refuse(connection, std::move(done.error()));
}

int strata_nl_leave(strata_nl* connection, uint32_t group) {
  auto done = connection->within.over().leave(group);
  return done ? 0 : refuse(connection, std::move(done.error()));
}

int strata_nl_event(strata_nl* connection, int timeout_ms, const strata_nl_message** event) {
  if (event == nullptr) return fail_missing("the output pointer for an event");
  const patience time(timeout_ms);
  for (;;) {
    auto received = connection->within.over().try_event();
    if (!received) return refuse(connection, std::move(received.error()));
    if (!*received) {
      if (time.wait(strata_nl_fd(connection))) continue;
      return 0;
    }
    const auto message = read(**received);
    if (!message) return refuse_cut(connection);
    connection->message = *message;
    *event = &connection->message;
    return 1;
  }
}

// --- links

int strata_nl_links_open(const char* name, strata_nl_links** links) {
  if (links == nullptr) return fail_missing("the output pointer for links");
  auto found = ask_links(name);
  if (!found) return fail(found.error());
  auto made = std::make_unique<strata_nl_links>();
  made->all = std::move(*found);
  for (const auto& each : made->all) made->shown.push_back(show(each));
  *links = made.release();
  return 0;
}

void strata_nl_links_close(strata_nl_links* links) { delete links; }

size_t strata_nl_links_count(const strata_nl_links* links) { return links->shown.size(); }

const strata_nl_link* strata_nl_links_at(const strata_nl_links* links, size_t index) {
  return index < links->shown.size() ? &links->shown[index] : nullptr;
}

int strata_nl_watch_open(const strata_nl_options* options, strata_nl_watch** watch) {
  if (watch == nullptr) return fail_missing("the output pointer for a watch");
  const auto wanted = options_of(options);
  if (!wanted) return fail(wanted.error());
  auto made = nl::route_watch::open(nl::route_watch::subject::links, *wanted);
  if (!made) return fail(made.error());
  return hand_over(watch, std::move(*made), nl::link());
}

void strata_nl_watch_close(strata_nl_watch* watch) { delete watch; }

int strata_nl_watch_fd(const strata_nl_watch* watch) { return watch->within.fd(); }

int strata_nl_watch_event(strata_nl_watch* watch, int timeout_ms, const strata_nl_link** link) {
  if (link == nullptr) return fail_missing("the output pointer for a link");
  const patience time(timeout_ms);
  for (;;) {
    auto received = watch->within.try_event();
    if (!received) return fail(received.error());
    if (!*received) {
      if (time.wait(watch->within.fd())) continue;
      return 0;
    }
    const int kind = take_link(**received, watch->last);
    if (kind == 0) continue;  // not a link event
    watch->shown = show(watch->last);
    *link = &watch->shown;
    return kind;
  }
}
