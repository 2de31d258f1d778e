// A circuit breaker for a backend: after too many failures the backend is not used for a while,
// then tried by one use at a time, and used normally after a success.
//
// For any thread, without locks: all loops of a proxy share one circuit per backend. If several
// change it at once, one succeeds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "loop/timer.hpp"
#include "runtime/proxy/choice/moment.hpp"

namespace strata::runtime::proxy {

struct circuit_rules {
  std::uint64_t failures = 0;  ///< failures in a row that open it; 0: any number is allowed
  std::uint64_t share = 0;     ///< failures in percent of at least 20 tries in 10 s; 0: ignored
  loop::duration rest = {};    ///< how long it is open at first; then twice as long, up to 60 s

  [[nodiscard]] bool are_on() const { return failures != 0 || share != 0; }
};

/// A better state is less.
enum class circuit_state : std::uint8_t { closed, half_open, open };

class circuit {
 public:
  /// One use of the backend.
  struct attempt {
    std::uint64_t round = 0;  // round of the circuit in which it began
    bool is_trial = false;
  };

  [[nodiscard]] circuit_state state(loop::time_point now) const;
  /// Whether a use may begin now: a normal one, or the one permitted trial.
  [[nodiscard]] bool lets_in(loop::time_point now) const;
  /// Begins a use, whether permitted or not.
  [[nodiscard]] attempt begin(loop::time_point now);
  /// Records the outcome. Reports whether it has opened or closed the circuit.
  bool note(const attempt& attempt, bool is_good, const circuit_rules& rules, loop::time_point now);
  /// Ends a use without an outcome.
  void give_up(const attempt& attempt);
  /// Closes the circuit in any state.
  void reset();
  /// How long it is open this time.
  [[nodiscard]] loop::duration pause() const { return loop::duration(pause_.load()); }

 private:
  /// Moves to the next round, open or closed, unless another thread was first.
  bool go_on_from(std::uint64_t round, bool is_closed);
  bool open(std::uint64_t round, loop::duration pause, loop::time_point now);
  bool close(std::uint64_t round);
  void count(bool is_good, bool has_share, loop::time_point now);
  [[nodiscard]] bool is_too_much(const circuit_rules& rules, loop::time_point now) const;

  // One word, so that all threads see a consistent state: the round, which grows with each change;
  // whether there is a trial; and whether it is closed.
  std::atomic<std::uint64_t> word_ = 1;
  std::atomic<std::uint64_t> in_a_row_ = 0;
  moment until_;
  std::atomic<loop::duration::rep> pause_ = 0;
  // The last seconds, each in one word too: its number, tries, and failures.
  std::array<std::atomic<std::uint64_t>, 10> seconds_ = {};
};

}  // namespace strata::runtime::proxy
