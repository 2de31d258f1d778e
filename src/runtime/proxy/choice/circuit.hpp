// Whether a backend is used: one that has failed too often is left alone for a while, then tried by
// one use at a time, and used as before when that went well.
//
// For any thread, without locks: all loops of a proxy have one circuit for a backend. Of several
// that would change it at once, one does.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "loop/timer.hpp"
#include "runtime/proxy/choice/moment.hpp"

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
  /// One use of the backend.
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
  bool note(const attempt& attempt, bool is_good, const circuit_rules& rules, loop::time_point now);
  /// It has ended, and nobody knows how it went.
  void give_up(const attempt& attempt);
  /// Closed, whatever was before.
  void reset();
  /// How long it is open this time.
  [[nodiscard]] loop::duration pause() const { return loop::duration(pause_.load()); }

 private:
  /// To the next round, open or closed, unless another was quicker.
  bool go_on_from(std::uint64_t round, bool is_closed);
  bool open(std::uint64_t round, loop::duration pause, loop::time_point now);
  bool close(std::uint64_t round);
  void count(bool is_good, bool has_share, loop::time_point now);
  [[nodiscard]] bool is_too_much(const circuit_rules& rules, loop::time_point now) const;

  // One word, so that all see one state: the round, which grows with each change; whether there is
  // a trial; and whether it is closed.
  std::atomic<std::uint64_t> word_ = 1;
  std::atomic<std::uint64_t> in_a_row_ = 0;
  moment until_;
  std::atomic<loop::duration::rep> pause_ = 0;
  // Of the last seconds, each a word too: its number, tries, and failures.
  std::array<std::atomic<std::uint64_t>, 10> seconds_ = {};
};

}  // namespace strata::runtime::proxy
