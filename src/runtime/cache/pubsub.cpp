#include "runtime/cache/pubsub.hpp"

#include <algorithm>

#include "runtime/cache/hash.hpp"
#include "runtime/cache/pattern.hpp"

namespace strata::runtime {

namespace {

bool add(pubsub::table& to, client& who, std::string_view name) {
  auto& clients = to[std::string(name)];
  clients.push_back(&who);
  return true;
}

void take_out(pubsub::table& from, client& who, std::string_view name) {
  const auto found = from.find(name);
  if (found == from.end()) return;
  std::erase(found->second, &who);
  if (found->second.empty()) from.erase(found);
}

// One message is written once for all RESP2 and once for all RESP3 subscribers.
class message_text final : public proto::reply_writer {
 public:
  template <class Write>
  message_text(int protocol, Write&& write) {
    speak(protocol);
    write(*this);
    text_.resize(static_cast<std::size_t>(at_ - text_.data()));
    slice_ = loop::slice::copy_of(as_bytes(text_));
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

template <class Write>
void tell(const std::vector<client*>& clients, Write&& write) {
  std::optional<message_text> as_resp2;
  std::optional<message_text> as_resp3;
  for (auto* each : clients) {
    auto& text = each->is_resp3() ? as_resp3 : as_resp2;
    if (!text) text.emplace(each->is_resp3() ? 3 : 2, write);
    each->push(text->slice());
  }
}

}  // namespace

std::size_t pubsub::text_hash::operator()(std::string_view of) const { return hash_of(of); }

bool pubsub::subscribe(client& who, std::string_view channel) {
  return who.channels.emplace(channel).second && add(channels_, who, channel);
}

bool pubsub::unsubscribe(client& who, std::string_view channel) {
  const auto found = who.channels.find(channel);
  if (found == who.channels.end()) return false;
  take_out(channels_, who, channel);
  who.channels.erase(found);
  return true;
}

bool pubsub::subscribe_pattern(client& who, std::string_view pattern) {
  return who.patterns.emplace(pattern).second && add(patterns_, who, pattern);
}

bool pubsub::unsubscribe_pattern(client& who, std::string_view pattern) {
  const auto found = who.patterns.find(pattern);
  if (found == who.patterns.end()) return false;
  take_out(patterns_, who, pattern);
  who.patterns.erase(found);
  return true;
}

void pubsub::leave(client& gone) {
  for (const auto& each : gone.channels) take_out(channels_, gone, each);
  for (const auto& each : gone.patterns) take_out(patterns_, gone, each);
  gone.channels.clear();
  gone.patterns.clear();
}

std::uint64_t pubsub::publish(std::string_view channel, std::string_view message) {
  std::uint64_t heard = 0;
  if (const auto found = channels_.find(channel); found != channels_.end()) {
    heard += found->second.size();
    tell(found->second, [&](proto::reply_writer& to) {
      to.push(3);
      to.bulk("message");
      to.bulk(channel);
      to.bulk(message);
    });
  }
  for (const auto& [pattern, clients] : patterns_) {
    if (!matches_pattern(pattern, channel)) continue;
    heard += clients.size();
    tell(clients, [&](proto::reply_writer& to) {
      to.push(4);
      to.bulk("pmessage");
      to.bulk(pattern);
      to.bulk(channel);
      to.bulk(message);
    });
  }
  return heard;
}

}  // namespace strata::runtime
