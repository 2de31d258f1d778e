#include "cli/daemon_client/session_stream.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <utility>

#include "text/base64.hpp"

namespace strata::cli {

namespace {

constexpr std::size_t longest_message = 1U << 20U;

template <std::size_t Size>
std::array<std::byte, Size> random_bytes() {
  std::array<std::byte, Size> bytes{};
  // The kernel always returns all of at most 256 bytes.
  (void)!::getentropy(bytes.data(), bytes.size());
  return bytes;
}

}  // namespace

std::string new_websocket_key() { return text::base64_encode(random_bytes<16>()); }

session_stream::session_stream(std::unique_ptr<wire> connection, std::string early)
    : connection_(std::move(connection)),
      early_(std::move(early)),
      reader_(proto::websocket_role::client, longest_message) {}

void session_stream::send(std::string_view message) {
  push(proto::websocket_opcode::binary, message);
}

void session_stream::push(proto::websocket_opcode opcode, std::string_view payload) {
  const auto mask = random_bytes<4>();
  const auto head = proto::websocket_head_for({.opcode = opcode, .mask = mask}, payload.size());
  std::string frame(as_text(head.span()));
  frame += payload;
  auto* const bytes = reinterpret_cast<std::byte*>(frame.data());
  proto::apply_mask(mutable_byte_span(bytes, frame.size()).subspan(head.size), mask);
  // If the daemon has gone, `receive` says so.
  (void)connection_->send(frame);
}

outcome<std::vector<std::string>> session_stream::receive() {
  auto got = early_.empty() ? connection_->receive() : std::exchange(early_, {});
  if (!got) return refuse(exit_failed, describe(got.error()));
  std::vector<std::string> messages;
  has_ended_ = got->empty();
  const auto fed = reader_.feed(
      as_bytes(*got), [&](const proto::websocket_event& event) { take(event, messages); });
  if (!fed) return refuse(exit_failed, describe(fed.error()));
  return messages;
}

void session_stream::take(const proto::websocket_event& event, std::vector<std::string>& messages) {
  using kind = proto::websocket_event::kind;
  switch (event.what) {
    case kind::text:
    case kind::binary: messages.emplace_back(as_text(event.payload)); break;
    case kind::ping: push(proto::websocket_opcode::pong, as_text(event.payload)); break;
    case kind::pong: break;
    case kind::close:
      has_ended_ = true;
      push(proto::websocket_opcode::close, proto::websocket_close_payload(event.close_code));
      break;
  }
}

}  // namespace strata::cli
