// Whether a back is used: one that has failed too often is left alone for a while, then tried by
// one use at a time, and used as before when that went well.
//
// For one loop's thread.
#pragma once

#include <array>
#include <cstdint>

#include "loop/timer.hpp"

namespace strata::runtime::proxy {

struct circuit_rules {
  std::uint64_t failures = 0;  ///< in a row, that open it; 0: none do
  std::uint64_t share = 0;     ///< percent of tries in 10 s, of 20 at least, that do; 0: none
  loop::duration rest = {};    ///< how long it is open at first; then twice as long, up to 60 s

  [[nodiscard]] bool are_on() const { return failures != 0 || share != 0; }
};

/// The better one is less.
enum class circuit_state : std::uint8_t { closed, half_open, open };

class circuit {
 public:
  /// One use of the back.
  struct attempt {
    std::uint64_t round = 0;  // of the circuit, in which it began
    bool is_trial = false;
  };

  [[nodiscard]] circuit_state state(loop::time_point now) const;
  /// A use that begins now is as any other, or the one trial that there may be.
  [[nodiscard]] bool lets_in(loop::time_point now) const;
  /// A use begins, whether it was let in or not.
  [[nodiscard]] attempt begin(loop::time_point now);
  /// How it went. Says whether that has opened or closed the circuit.
  bool note(const attempt& of, bool is_good, const circuit_rules& by, loop::time_point now);
  /// It has ended, and nobody knows how it went.
  void give_up(const attempt& of);
  /// Closed, whatever was before.
  void reset() { *this = circuit(round_ + 1); }
  /// How long it is open this time.
  [[nodiscard]] loop::duration pause() const { return pause_; }

  circuit() = default;

 private:
  struct second {
    std::int64_t number = 0;
    std::uint64_t tries = 0;
    std::uint64_t failures = 0;
  };

  explicit circuit(std::uint64_t round) : round_(round) {}
  void count(bool is_good, loop::time_point now);
  [[nodiscard]] bool is_too_much(const circuit_rules& by, loop::time_point now) const;
  void open(loop::time_point now);

  bool is_closed_ = true;
  bool has_trial_ = false;
  std::uint64_t round_ = 0;  // grows as it opens
  std::uint64_t in_a_row_ = 0;
  loop::time_point until_;
  loop::duration pause_ = {};
  std::array<second, 10> seconds_ = {};
};

}  // namespace strata::runtime::proxy
