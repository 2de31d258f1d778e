// Replies that are not sent as they are: dropped, or kept.
#pragma once

#include <string>
#include <string_view>

#include "proto/resp/resp_reply.hpp"

namespace strata::runtime::cache {

/// For a client that wants no replies.
class no_reply final : public proto::reply_writer {
 private:
  void grow(std::size_t size) override {
    if (memory_.size() < size) memory_.resize(size);
    at_ = memory_.data();
    end_ = at_ + memory_.size();
  }
  std::string memory_ = std::string(4096, '\0');
};

/// Keeps replies until they are taken, to be converted.
class kept_reply final : public proto::reply_writer {
 public:
  /// Returns the replies written since the last call; valid until more is written.
  [[nodiscard]] std::string_view take() {
    const std::string_view written(
        memory_.data(), at_ == nullptr ? 0 : static_cast<std::size_t>(at_ - memory_.data()));
    at_ = end_ = nullptr;
    return written;
  }

 private:
  void grow(std::size_t size) override {
    const auto used = static_cast<std::size_t>(at_ == nullptr ? 0 : at_ - memory_.data());
    memory_.resize((used + size) * 2);
    at_ = memory_.data() + used;
    end_ = memory_.data() + memory_.size();
  }
  std::string memory_;
};

}  // namespace strata::runtime::cache
