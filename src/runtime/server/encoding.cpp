#include "runtime/server/encoding.hpp"

#include <algorithm>

#include "proto/deflate.hpp"
#include "proto/websocket_frame.hpp"
#include "text/utf8.hpp"

namespace strata::runtime::server {

namespace {

using proto::websocket_opcode;

// Shorter ones do not get shorter by it.
constexpr std::size_t least_deflated = 64;

// A WebSocket's text must be UTF-8 (RFC 6455 section 8.1).
websocket_opcode opcode_of(const message& of) {
  if (of.kind == message_kind::text) return websocket_opcode::text;
  if (of.kind == message_kind::binary) return websocket_opcode::binary;
  text::utf8_checker checker;
  const bool is_text = checker.feed(of.bytes) && checker.is_whole();
  return is_text ? websocket_opcode::text : websocket_opcode::binary;
}

void encode_deflated(const message& of, std::string& to) {
  // One a thread, since all messages are compressed without those before them.
  thread_local proto::deflater shared({});
  proto::websocket_frame frame{.opcode = opcode_of(of), .mask = {}};
  std::string packed;
  if (of.bytes.size() >= least_deflated) {
    shared.restart();
    shared.compress(of.bytes, packed);
    frame.is_compressed = packed.size() < of.bytes.size();
  }
  const auto payload = frame.is_compressed ? std::string_view(packed) : as_text(of.bytes);
  to += as_text(proto::websocket_head_for(frame, payload.size()).span());
  to += payload;
}

// A line each, however its sender ends lines: else an event could be made to look like two.
void encode_event(const message& of, std::string& to) {
  auto rest = as_text(of.bytes);
  for (;;) {
    const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
    to.append("data: ").append(rest.substr(0, end)).append("\n");
    if (end == rest.size()) break;
    rest.remove_prefix(rest.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
  to += '\n';
}

}  // namespace

std::string as_line(byte_span said) {
  std::string line(as_text(said));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

proto::envelope envelope_of(encoding how, const message& of) {
  if (how < encoding::websocket) {
    return proto::envelope_for(static_cast<proto::framing>(how), of.bytes.size());
  }
  const auto head =
      proto::websocket_head_for({.opcode = opcode_of(of), .mask = {}}, of.bytes.size());
  proto::envelope made;
  std::ranges::copy(as_text(head.span()), made.before.begin());
  made.before_size = head.size;
  return made;
}

void encode(encoding how, const message& of, std::string& to) {
  if (how == encoding::line) {
    to.append(as_line(of.bytes)).append("\n");
  } else if (how == encoding::websocket_deflated) {
    encode_deflated(of, to);
  } else {
    encode_event(of, to);
  }
}

}  // namespace strata::runtime::server
