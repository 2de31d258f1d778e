#include "runtime/server/encoding.hpp"

#include <algorithm>

#include "proto/deflate.hpp"
#include "proto/websocket/websocket_frame.hpp"
#include "text/utf8.hpp"

namespace strata::runtime::server {

namespace {

using proto::websocket_opcode;

// Shorter messages do not get smaller by compression.
constexpr std::size_t least_deflated = 64;

// A WebSocket's text must be UTF-8 (RFC 6455 section 8.1).
websocket_opcode opcode_of(const message& message) {
  if (message.kind == message_kind::text) return websocket_opcode::text;
  if (message.kind == message_kind::binary) return websocket_opcode::binary;
  text::utf8_checker checker;
  const bool is_text = checker.feed(message.bytes) && checker.is_whole();
  return is_text ? websocket_opcode::text : websocket_opcode::binary;
}

void encode_deflated(const message& message, std::string& text) {
  // One per thread, since each message is compressed on its own.
  thread_local proto::deflater shared({});
  proto::websocket_frame frame{.opcode = opcode_of(message), .mask = {}};
  std::string packed;
  if (message.bytes.size() >= least_deflated) {
    shared.restart();
    shared.compress(message.bytes, packed);
    frame.is_compressed = packed.size() < message.bytes.size();
  }
  const auto payload = frame.is_compressed ? std::string_view(packed) : as_text(message.bytes);
  text += as_text(proto::websocket_head_for(frame, payload.size()).span());
  text += payload;
}

// One field per line, whatever line ends the sender uses: otherwise one message could pose as two
// events.
void encode_event(const message& message, std::string& text) {
  auto rest = as_text(message.bytes);
  for (;;) {
    const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
    text.append("data: ").append(rest.substr(0, end)).append("\n");
    if (end == rest.size()) break;
    rest.remove_prefix(rest.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
  text += '\n';
}

}  // namespace

std::string as_line(byte_span bytes) {
  std::string line(as_text(bytes));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

proto::envelope envelope_of(encoding encoding, const message& message) {
  if (encoding < encoding::websocket) {
    return proto::envelope_for(static_cast<proto::framing>(encoding), message.bytes.size());
  }
  const auto head =
      proto::websocket_head_for({.opcode = opcode_of(message), .mask = {}}, message.bytes.size());
  proto::envelope made;
  std::ranges::copy(as_text(head.span()), made.before.begin());
  made.before_size = head.size;
  return made;
}

void encode(encoding encoding, const message& message, std::string& text) {
  if (encoding == encoding::line) {
    text.append(as_line(message.bytes)).append("\n");
  } else if (encoding == encoding::websocket_deflated) {
    encode_deflated(message, text);
  } else {
    encode_event(message, text);
  }
}

}  // namespace strata::runtime::server
