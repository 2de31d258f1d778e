// A message to several clients, written once and shared by all that use the same protocol version.
#pragma once

#include <string>

#include "loop/slice.hpp"
#include "proto/resp/resp_reply.hpp"

namespace strata::runtime::cache {

class message_text final : public proto::reply_writer {
 public:
  /// `write(proto::reply_writer&)` writes it.
  template <class Write>
  message_text(int protocol, Write&& write) {
    speak(protocol);
    write(*this);
    text_.resize(static_cast<std::size_t>(at_ - text_.data()));
    slice_ = loop::slice::copy_of(std::as_bytes(std::span(text_)));
  }
  [[nodiscard]] const loop::slice& slice() const { return slice_; }

 private:
  void grow(std::size_t size) override {
    const auto used = static_cast<std::size_t>(at_ == nullptr ? 0 : at_ - text_.data());
    text_.resize(used + size + 64);
    at_ = text_.data() + used;
    end_ = text_.data() + text_.size();
  }

  std::string text_;
  loop::slice slice_;
};

}  // namespace strata::runtime::cache
