#include "runtime/server/broadcast_log.hpp"

#include <string>

namespace strata::runtime::server {

const loop::slice& batch::as(encoding encoding) const {
  if (encoding == how_) return framed_;
  auto& encoded = others_[static_cast<std::size_t>(encoding)];
  if (!encoded.empty()) return encoded;
  std::string text;
  text.reserve(framed_.size() + 8 * messages_.size());
  for (const auto& each : messages_) {
    const auto said = at(each);
    if (!has_envelope(encoding) || (encoding == encoding::line && !is_line(said.bytes))) {
      encode(encoding, said, text);
      continue;
    }
    const auto envelope = envelope_of(encoding, said);
    text += as_text(envelope.head());
    text += as_text(said.bytes);
    text += envelope.after;
  }
  encoded = loop::slice::copy_of(as_bytes(text));
  return encoded;
}

}  // namespace strata::runtime::server
