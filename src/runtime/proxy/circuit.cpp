#include "runtime/proxy/circuit.hpp"

#include <algorithm>
#include <chrono>

namespace strata::runtime::proxy {

namespace {

using namespace std::chrono_literals;

constexpr loop::duration longest_pause = 60s;
constexpr std::uint64_t fewest_tries = 20;

std::int64_t number_of(loop::time_point now) {
  return std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
}

}  // namespace

circuit_state circuit::state(loop::time_point now) const {
  if (is_closed_) return circuit_state::closed;
  return now < until_ ? circuit_state::open : circuit_state::half_open;
}

bool circuit::lets_in(loop::time_point now) const {
  return is_closed_ || (now >= until_ && !has_trial_);
}

circuit::attempt circuit::begin(loop::time_point now) {
  const bool is_trial = !is_closed_ && lets_in(now);
  if (is_trial) has_trial_ = true;
  return {.round = round_, .is_trial = is_trial};
}

// What began before the circuit opened says nothing of the back as it is now.
bool circuit::note(const attempt& of, bool is_good, const circuit_rules& by, loop::time_point now) {
  if (of.round != round_ || !by.are_on()) return false;
  if (is_closed_) {
    count(is_good, now);
    if (is_good || !is_too_much(by, now)) return false;
    pause_ = by.rest;
    open(now);
    return true;
  }
  if (is_good) {
    reset();
    return true;
  }
  if (!of.is_trial) return false;
  pause_ = std::min(2 * pause_, std::max(longest_pause, by.rest));
  open(now);
  return true;
}

void circuit::give_up(const attempt& of) {
  if (of.is_trial && of.round == round_) has_trial_ = false;
}

void circuit::open(loop::time_point now) {
  is_closed_ = false;
  has_trial_ = false;
  ++round_;
  until_ = now + pause_;
}

void circuit::count(bool is_good, loop::time_point now) {
  in_a_row_ = is_good ? 0 : in_a_row_ + 1;
  const auto number = number_of(now);
  auto& slot = seconds_[static_cast<std::size_t>(number) % seconds_.size()];
  if (slot.number != number) slot = {.number = number};
  ++slot.tries;
  if (!is_good) ++slot.failures;
}

bool circuit::is_too_much(const circuit_rules& by, loop::time_point now) const {
  if (by.failures != 0 && in_a_row_ >= by.failures) return true;
  const auto oldest = number_of(now) - static_cast<std::int64_t>(seconds_.size());
  std::uint64_t tries = 0;
  std::uint64_t failures = 0;
  for (const auto& each : seconds_) {
    if (each.number <= oldest) continue;
    tries += each.tries;
    failures += each.failures;
  }
  return by.share != 0 && tries >= fewest_tries && failures * 100 >= by.share * tries;
}

}  // namespace strata::runtime::proxy
