#include "strata/nl/connection.hpp"

#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace strata::nl {

namespace {

result<void> set(int fd, int level, int name, int value, const std::string& operation) {
  if (::setsockopt(fd, level, name, &value, sizeof value) == 0) return {};
  return system_failure(errno, operation);
}

std::string text_of(const wire::netlink_attributes::path& path) {
  std::string text;
  for (const auto type : path) {
    if (type == 0) break;
    text += (text.empty() ? "" : ".") + std::to_string(type);
  }
  return text;
}

errc code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENODEV: return errc::not_found;
    case EEXIST: return errc::already_exists;
    case EBUSY: return errc::conflict;
    case EPERM:
    case EACCES: return errc::permission_denied;
    case EOPNOTSUPP: return errc::not_supported;
    case EINVAL:
    case ERANGE: return errc::invalid_argument;
    default: return errc::system;
  }
}

}  // namespace

connection::connection(unique_fd fd, const connection_options& options)
    : fd_(std::move(fd)),
      options_(options),
      memory_(std::make_unique_for_overwrite<std::byte[]>(2 * options.largest_message)) {}

result<connection> connection::open(int protocol, const connection_options& options) {
  const auto what = "open a netlink socket of protocol " + std::to_string(protocol);
  // The first message that it sends binds it to a port of its own.
  unique_fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!fd) {
    auto failed = system_error(errno, what);
    if (failed.sys_errno == EPROTONOSUPPORT) failed.code = errc::not_supported;
    return std::unexpected(std::move(failed));
  }
  if (options.extended_acks) {
    if (auto done = set(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, 1, what); !done) {
      return std::unexpected(done.error());
    }
  }
  if (options.receive_buffer != 0) {
    const int size = static_cast<int>(std::min<std::size_t>(options.receive_buffer, INT32_MAX));
    if (auto done = set(fd.get(), SOL_SOCKET, SO_RCVBUF, size, what); !done) {
      return std::unexpected(done.error());
    }
  }
  return connection(std::move(fd), options);
}

wire::netlink_writer connection::request() {
  return wire::netlink_writer(mutable_byte_span(memory_.get(), options_.largest_message));
}

result<void> connection::send(wire::netlink_writer& request, std::string_view operation) {
  request.set_sequence(++sequence_);
  unread_ = {};
  cookie_ = {};
  refused_ = {};
  was_interrupted_ = false;
  const auto bytes = request.bytes();
  if (!bytes) {
    return failure(errc::limit_exceeded, std::string(operation),
                   "the request has more than " + std::to_string(options_.largest_message) +
                       " bytes, or is nested more than 8 deep",
                   "set a larger largest_message");
  }
  request_ = *bytes;
  while (::send(fd_.get(), bytes->data(), bytes->size(), 0) < 0) {
    if (errno != EINTR) return system_failure(errno, std::string(operation));
  }
  is_bound_ = true;
  return {};
}

result<std::optional<wire::netlink_message>> connection::next_message(std::size_t keep) {
  while (unread_.empty()) {
    sockaddr_nl from{};
    socklen_t from_size = sizeof from;
    auto* const room = received() + keep;
    const auto room_size = options_.largest_message - keep;
    const auto size = ::recvfrom(fd_.get(), room, room_size, MSG_DONTWAIT | MSG_TRUNC,
                                 reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return std::nullopt;
      auto failed = system_error(errno, "receive from netlink");
      if (failed.sys_errno == ENOBUFS) {
        failed.code = errc::limit_exceeded;
        failed.reason = "messages were lost because they arrived faster than they were read";
        failed.remedy = "read the whole state again; a larger receive_buffer holds more";
      }
      return std::unexpected(std::move(failed));
    }
    // A message from another process, which may be any.
    if (from.nl_pid != 0) continue;
    if (static_cast<std::size_t>(size) > room_size) {
      return failure(errc::limit_exceeded, "receive from netlink",
                     "a datagram has " + std::to_string(size) + " bytes, but the buffer holds " +
                         std::to_string(room_size),
                     "set a larger largest_message");
    }
    unread_ = {room, static_cast<std::size_t>(size)};
  }
  const auto message = wire::netlink_message::parse(unread_);
  if (!message) {
    unread_ = {};
    return failure(errc::malformed, "receive from netlink", "a message is truncated");
  }
  unread_ = message->rest_of(unread_);
  return message;
}

result<void> connection::wait(std::string_view operation) const {
  pollfd ready{fd_.get(), POLLIN, 0};
  const auto patience = static_cast<int>(options_.patience.count());
  const int count = ::poll(&ready, 1, patience);
  if (count > 0 || (count < 0 && errno == EINTR)) return {};
  if (count < 0) return system_failure(errno, std::string(operation));
  return failure(errc::timed_out, std::string(operation),
                 "the kernel did not answer in " + std::to_string(patience) + " ms");
}

result<wire::netlink_message> connection::next_reply(std::string_view operation, std::size_t keep) {
  for (;;) {
    auto next = next_message(keep);
    if (!next) {
      // The lost messages were multicast: a reply has room reserved.
      if (next.error().sys_errno == ENOBUFS) continue;
      return std::unexpected(next.error());
    }
    if (!*next) {
      if (auto waited = wait(operation); !waited) return std::unexpected(waited.error());
      continue;
    }
    // Skips replies to abandoned requests, and multicast messages.
    if ((*next)->header().sequence == sequence_) return **next;
  }
}

refused_attribute connection::named_by(const wire::netlink_ack& ack) const {
  refused_attribute named;
  const auto sent = wire::netlink_message::parse(request_);
  if (!sent) return named;
  const auto at_attributes =
      wire::netlink_message::header_size + wire::netlink_aligned(options_.family_header);
  const auto all = sent->attributes(options_.family_header);
  const auto offset = ack.missing_type ? ack.missing_nest : ack.offset;
  if (offset && *offset >= at_attributes) named.path = all.path_to(*offset - at_attributes);
  if (!ack.missing_type) return named;
  named.is_missing = true;
  auto* const end = std::ranges::find(named.path, 0);
  if (end != named.path.end()) *end = static_cast<std::uint16_t>(*ack.missing_type);
  return named;
}

error connection::refusal(const wire::netlink_ack& ack, std::string_view operation) {
  error made = system_error(ack.error_number, std::string(operation));
  made.code = code_of(ack.error_number);
  made.reason = ack.text;
  made.offset = ack.offset;
  refused_ = named_by(ack);
  const auto path = text_of(refused_.path);
  if (!path.empty())
    made.remedy = (refused_.is_missing ? "add attribute " : "check attribute ") + path;
  return made;
}

result<wire::netlink_message> connection::ask(wire::netlink_writer& request,
                                              std::string_view operation) {
  if (auto sent = send(request, operation); !sent) return std::unexpected(sent.error());
  const auto sent = wire::netlink_message::parse(request_);
  const bool wants_ack = sent && sent->has(wire::netlink_flag::ack);
  std::optional<wire::netlink_message> reply;
  for (;;) {
    // The ACK follows the reply, which must be kept.
    const auto keep =
        reply ? static_cast<std::size_t>(reply->bytes().end().base() - received()) : 0;
    auto next = next_reply(operation, keep);
    if (!next) return next;
    if (!next->is(wire::netlink_control::error)) {
      reply = reply ? reply : *next;
      if (!wants_ack) return *reply;
      continue;
    }
    const auto ack = wire::netlink_ack::parse(*next);
    if (!ack) {
      return failure(errc::malformed, std::string(operation), "the kernel's ACK is truncated");
    }
    if (ack->error_number != 0) return std::unexpected(refusal(*ack, operation));
    cookie_ = ack->cookie;
    return reply ? *reply : *next;
  }
}

result<std::optional<wire::netlink_message>> connection::next_of_dump(std::string_view operation) {
  auto next = next_reply(operation, 0);
  if (!next) return std::unexpected(next.error());
  was_interrupted_ = was_interrupted_ || next->has(wire::netlink_flag::dump_interrupted);
  const bool is_done = next->is(wire::netlink_control::done);
  if (!is_done && !next->is(wire::netlink_control::error)) return *next;
  const auto ack = wire::netlink_ack::parse(*next);
  if (ack && ack->error_number != 0) return std::unexpected(refusal(*ack, operation));
  if (was_interrupted_) {
    return failure(errc::conflict, std::string(operation), "the state changed while it was read",
                   "repeat the request");
  }
  return std::nullopt;
}

result<void> connection::join(std::uint32_t group) {
  const auto what = "join netlink multicast group " + std::to_string(group);
  // A socket without a port does not receive the kernel's multicast.
  sockaddr_nl anywhere{};
  anywhere.nl_family = AF_NETLINK;
  if (!is_bound_ &&
      ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&anywhere), sizeof anywhere) != 0) {
    return system_failure(errno, what);
  }
  is_bound_ = true;
  return set(fd_.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, static_cast<int>(group), what);
}

result<void> connection::leave(std::uint32_t group) {
  return set(fd_.get(), SOL_NETLINK, NETLINK_DROP_MEMBERSHIP, static_cast<int>(group),
             "leave netlink multicast group " + std::to_string(group));
}

result<std::optional<wire::netlink_message>> connection::try_event() { return next_message(0); }

byte_span connection::cookie() const { return cookie_; }

}  // namespace strata::nl
