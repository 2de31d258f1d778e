// What happens to one client or connection, told to a script in its order: while a function for it
// waits, the next ones wait behind that.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "runtime/scripting/callbacks.hpp"
#include "script/machine.hpp"

namespace strata::runtime::scripting {

class sequence final : private script::waiter, private loop::turn_end_hook {
 public:
  class owner {
   public:
    owner() = default;
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;
    virtual ~owner() = default;

    /// Starts the script's function, which tells `told` of its end.
    virtual void start(callback which, std::string_view message, script::waiter& told) = 0;
    virtual void on_ended(callback which, const script::finished& with) = 0;
    /// Nothing waits any more. The sequence may be destroyed.
    virtual void on_settled() = 0;
  };

  /// How many may wait: what is read at once, and datagrams, which nothing holds back.
  static constexpr std::size_t most_behind = 10000;

  sequence(loop::loop& on, owner& of) : loop_(on), owner_(of) {}

  /// At once, if nothing waits. False: too many do, and this is dropped.
  bool tell(callback which, std::string_view message);
  /// At the end of the loop's turn.
  void tell_soon(callback which);
  /// Nothing more to tell: has `on_settled` called at the end of the turn, or when all is told.
  void settle() { loop_.at_turn_end(*this); }
  /// What waits is not told.
  void clear() { turns_.clear(); }
  [[nodiscard]] bool is_busy() const { return is_started_ || !turns_.empty(); }

 private:
  struct turn {
    callback which;
    std::string message;
  };

  void start(callback which, std::string_view message);
  void on_end(const script::finished& with) override;
  void on_turn_end() override;

  loop::loop& loop_;
  owner& owner_;
  std::deque<turn> turns_;
  callback running_{};
  bool is_started_ = false;  // and has not ended
  bool is_advancing_ = false;
};

}  // namespace strata::runtime::scripting
