#include "http/http2/http2_flow.hpp"

#include <utility>

#include "http/http2/http2_channel.hpp"

namespace strata::http {

std::string http2_flow::take_unread() {
  if (!unread_.empty()) credit(unread_.size());
  return std::exchange(unread_, {});
}

loop::condition& http2_flow::changed() {
  if (!changed_) changed_ = std::make_unique<loop::condition>(loop_);
  return *changed_;
}

void http2_flow::notify() {
  if (changed_) changed_->notify();
  if (channel_ != nullptr) channel_->notify();
}

void http2_flow::on_end() {
  is_whole_ = true;
  notify();
}

}  // namespace strata::http
