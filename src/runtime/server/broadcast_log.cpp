#include "runtime/server/broadcast_log.hpp"

#include <string>

namespace strata::runtime::server {

const loop::slice& batch::as(proto::framing how) const {
  if (how == framing_) return framed_;
  auto& encoded = others_[static_cast<std::size_t>(how)];
  if (!encoded.empty()) return encoded;
  std::string text;
  for (const auto& each : messages_) {
    const auto envelope = proto::envelope_for(how, each.size);
    text += as_text(envelope.head());
    text += as_text(framed_.bytes().subspan(each.offset, each.size));
    text += envelope.after;
  }
  encoded = loop::slice::copy_of(as_bytes(text));
  return encoded;
}

}  // namespace strata::runtime::server
