#include "strata/l2/decorators/fault_injector.hpp"

#include <algorithm>

#include "strata/wire/ethernet.hpp"

namespace strata::l2 {

fault_injector::fault_injector(std::unique_ptr<device> device, const faults& faults)
    : within_(std::move(device)), how_(faults), random_(faults.seed) {}

bool fault_injector::chance(double likelihood) {
  return likelihood > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < likelihood;
}

result<std::size_t> fault_injector::try_send(std::span<const byte_span> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::vector<std::byte> frame(frames[i].begin(), frames[i].end());
    if (chance(how_.loss)) {
      ++done_.lost;
    } else {
      if (frame.size() > wire::ethernet_header_size && chance(how_.corruption)) {
        const auto body = (frame.size() - wire::ethernet_header_size) * 8;
        const auto bit = wire::ethernet_header_size * 8 + random_() % body;
        frame[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        ++done_.corrupted;
      }
      if (chance(how_.duplication)) {
        ++done_.duplicated;
        if (auto sent = pass(frame); !sent) return std::unexpected(sent.error());
      }
      if (auto sent = pass(std::move(frame)); !sent) return std::unexpected(sent.error());
    }
    if (auto sent = send_due(1); !sent) return std::unexpected(sent.error());
  }
  return frames.size();
}

result<void> fault_injector::pass(std::vector<std::byte> frame) {
  const bool behind = std::ranges::any_of(held_, &held_frame::blocks);
  const bool late = chance(how_.delay);
  if (behind || late || chance(how_.reordering)) {
    ++done_.held;
    const auto due = static_cast<unsigned>(1 + random_() % std::max(how_.most_delay, 1U));
    held_.push_back({std::move(frame), due, behind || late});
    return {};
  }
  return send_frame(*within_, frame);
}

result<void> fault_injector::send_due(unsigned passed) {
  bool blocked = false;
  for (auto& each : held_) {
    each.due -= std::min(each.due, passed);
    // A delayed frame holds back those behind it.
    if (each.due != 0 || (blocked && each.blocks)) {
      blocked = blocked || each.blocks;
      continue;
    }
    if (auto sent = send_frame(*within_, each.bytes); !sent) return sent;
    each.bytes.clear();
  }
  std::erase_if(held_, [](const held_frame& each) { return each.bytes.empty(); });
  return {};
}

result<void> fault_injector::flush() {
  for (auto& each : std::exchange(held_, {})) {
    if (auto sent = send_frame(*within_, each.bytes); !sent) return sent;
  }
  return {};
}

}  // namespace strata::l2
