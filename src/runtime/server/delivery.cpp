#include "runtime/server/delivery.hpp"

#include <memory>
#include <utility>

#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

void delivery::relay(const message& message, std::uint64_t except) {
  const bool is_other = !log_.empty() && speaker_ != except;
  if (!direct_log_.empty() || is_other || log_.must_take_before(message)) home_.publish();
  gather(message, except);
  if (home_.state().shards.size() > 1) {
    far_.bytes += as_text(message.bytes);
    far_.messages.push_back(
        {static_cast<std::uint32_t>(message.bytes.size()), message.kind, except});
    home_.loop().at_turn_end(*this);
  }
}

void delivery::gather(const message& message, std::uint64_t except) {
  speaker_ = except;
  log_.append(message);
}

void delivery::send(member& member, const message& message) {
  if (!log_.empty() || direct_receiver_ != &member || direct_log_.must_take_before(message)) {
    home_.publish();
  }
  if (direct_log_.empty()) direct_log_.write_as(member.wanted());
  direct_receiver_ = &member;
  direct_log_.append(message);
}

void delivery::deliver() {
  if (!log_.empty()) deliver_log(speaker_);
  if (!direct_log_.empty()) deliver_direct();
}

std::uint64_t delivery::send_to_all(const message& message) {
  log_.append(message);
  return deliver_log(0);
}

void delivery::take(const far_batch& batch) {
  home_.publish();
  auto bytes = as_bytes(batch.bytes);
  for (const auto& each : batch.messages) {
    const message next{bytes.first(each.size), each.kind};
    const bool is_other = !log_.empty() && speaker_ != each.except;
    if (is_other || log_.must_take_before(next)) deliver_log(speaker_);
    gather(next, each.except);
    bytes = bytes.subspan(each.size);
  }
  if (!log_.empty()) deliver_log(speaker_);
}

void delivery::send_to_shards() {
  if (far_.messages.empty()) return;
  const auto sent = std::make_shared<const far_batch>(std::exchange(far_, {}));
  for (const auto& other : home_.state().shards) {
    if (other.who == &home_) continue;
    other.where->post([who = other.who, sent] { who->deliveries().take(*sent); });
  }
}

void delivery::show(bool is_outgoing, const member& member, std::string sender,
                    std::string receiver, byte_span message) const {
  home_.state().tap->write(tapped_form::message, is_outgoing,
                           {.client = member.id(),
                            .address = member.address().text(),
                            .sender = std::move(sender),
                            .receiver = std::move(receiver),
                            .protocol = member.protocol()},
                           message);
}

void delivery::forget(const member& gone) {
  if (direct_receiver_ != &gone) return;
  direct_log_.recycle(direct_log_.take());
  direct_receiver_ = nullptr;
}

std::size_t delivery::offer_to(member& member, const batch& messages, std::uint64_t speaker) {
  const auto taken = member.offer(messages);
  if (taken != 0 && home_.state().tap->is_open()) {
    const auto sender = speaker == 0 ? home_.name() : client_text(speaker);
    for (const auto& each : messages.messages().first(taken)) {
      show(true, member, sender, client_text(member.id()), messages.part(each).bytes());
    }
  }
  return taken;
}

std::uint64_t delivery::deliver_log(std::uint64_t except) {
  auto messages = log_.take();
  std::uint64_t took = 0;
  for (auto* each : home_.members()) {
    if (each->id() == except || !each->is_admitted) continue;
    if (offer_to(*each, messages, except) == messages.count()) ++took;
  }
  log_.recycle(std::move(messages));
  return took;
}

void delivery::deliver_direct() {
  auto messages = direct_log_.take();
  offer_to(*std::exchange(direct_receiver_, nullptr), messages, 0);
  direct_log_.recycle(std::move(messages));
}

}  // namespace strata::runtime::server
