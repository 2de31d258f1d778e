#include "runtime/proxy/choice/circuit.hpp"

#include <algorithm>
#include <chrono>

namespace strata::runtime::proxy {

namespace {

using namespace std::chrono_literals;

constexpr loop::duration longest_pause = 60s;
constexpr std::uint64_t fewest_tries = 20;

constexpr std::uint64_t closed_bit = 1;
constexpr std::uint64_t trial_bit = 2;
constexpr unsigned round_at = 2;

bool is_closed(std::uint64_t word) { return (word & closed_bit) != 0; }
bool has_trial(std::uint64_t word) { return (word & trial_bit) != 0; }
std::uint64_t round_of(std::uint64_t word) { return word >> round_at; }

/// The tries of one second, in a word: 24 bits for the second's number, and 20 bits for each count.
struct second {
  static constexpr unsigned count_bits = 20;
  static constexpr std::uint64_t most = (std::uint64_t{1} << count_bits) - 1;
  static constexpr std::uint64_t number_mask = (std::uint64_t{1} << 24U) - 1;

  std::uint64_t number = 0;
  std::uint64_t tries = 0;
  std::uint64_t failures = 0;

  explicit second(std::uint64_t word)
      : number(word >> (2 * count_bits)),
        tries((word >> count_bits) & most),
        failures(word & most) {}
  [[nodiscard]] std::uint64_t word() const {
    return (number << (2 * count_bits)) | (tries << count_bits) | failures;
  }
};

std::uint64_t number_of(loop::time_point now) {
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  return static_cast<std::uint64_t>(since.count()) & second::number_mask;
}

}  // namespace

circuit_state circuit::state(loop::time_point now) const {
  if (is_closed(word_.load())) return circuit_state::closed;
  return now < until_.get() ? circuit_state::open : circuit_state::half_open;
}

bool circuit::lets_in(loop::time_point now) const {
  const auto word = word_.load();
  return is_closed(word) || (now >= until_.get() && !has_trial(word));
}

circuit::attempt circuit::begin(loop::time_point now) {
  auto word = word_.load();
  while (!is_closed(word) && !has_trial(word) && now >= until_.get()) {
    if (!word_.compare_exchange_weak(word, word | trial_bit)) continue;
    return {.round = round_of(word), .is_trial = true};
  }
  return {.round = round_of(word), .is_trial = false};
}

// A use that began before the circuit opened says nothing about the backend's present state.
bool circuit::note(const attempt& attempt, bool is_good, const circuit_rules& rules,
                   loop::time_point now) {
  const auto word = word_.load();
  if (attempt.round != round_of(word) || !rules.are_on()) return false;
  if (is_closed(word)) {
    count(is_good, rules.share != 0, now);
    return !is_good && is_too_much(rules, now) && open(attempt.round, rules.rest, now);
  }
  if (is_good) return close(attempt.round);
  const auto longer = std::min(2 * pause(), std::max(longest_pause, rules.rest));
  return attempt.is_trial && open(attempt.round, longer, now);
}

void circuit::give_up(const attempt& attempt) {
  if (!attempt.is_trial) return;
  auto word = word_.load();
  while (round_of(word) == attempt.round && has_trial(word)) {
    if (word_.compare_exchange_weak(word, word & ~trial_bit)) return;
  }
}

void circuit::reset() {
  const auto word = word_.load();
  if (!is_closed(word) || in_a_row_.load() != 0) close(round_of(word));
}

bool circuit::go_on_from(std::uint64_t round, bool is_closed) {
  const auto next = ((round + 1) << round_at) | (is_closed ? closed_bit : 0);
  auto word = word_.load();
  while (round_of(word) == round) {
    if (word_.compare_exchange_weak(word, next)) return true;
  }
  return false;
}

// Set the end time first: a loop that sees the circuit open sees its end too. Two loops that open
// it at once set nearly the same time.
bool circuit::open(std::uint64_t round, loop::duration pause, loop::time_point now) {
  pause_ = pause.count();
  until_ = now + pause;
  return go_on_from(round, false);
}

bool circuit::close(std::uint64_t round) {
  in_a_row_ = 0;
  for (auto& each : seconds_) each = 0;
  return go_on_from(round, true);
}

// Writes only changes: needless writes would make the loops contend for the word.
void circuit::count(bool is_good, bool has_share, loop::time_point now) {
  if (!is_good) {
    in_a_row_.fetch_add(1);
  } else if (in_a_row_.load(std::memory_order_relaxed) != 0) {
    in_a_row_ = 0;
  }
  if (!has_share) return;
  const auto number = number_of(now);
  auto& slot = seconds_[number % seconds_.size()];
  auto word = slot.load(std::memory_order_relaxed);
  for (bool is_counted = false; !is_counted;) {
    second next(word);
    if (next.number != number) next = second(number << (2 * second::count_bits));
    next.tries = std::min(next.tries + 1, second::most);
    if (!is_good) next.failures = std::min(next.failures + 1, second::most);
    is_counted = slot.compare_exchange_weak(word, next.word(), std::memory_order_relaxed);
  }
}

bool circuit::is_too_much(const circuit_rules& rules, loop::time_point now) const {
  if (rules.failures != 0 && in_a_row_.load() >= rules.failures) return true;
  const auto last = number_of(now);
  std::uint64_t tries = 0;
  std::uint64_t failures = 0;
  for (const auto& each : seconds_) {
    const second of(each.load(std::memory_order_relaxed));
    if (((last - of.number) & second::number_mask) >= seconds_.size()) continue;
    tries += of.tries;
    failures += of.failures;
  }
  return rules.share != 0 && tries >= fewest_tries && failures * 100 >= rules.share * tries;
}

}  // namespace strata::runtime::proxy
