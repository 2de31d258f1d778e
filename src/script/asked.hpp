// A handler for whose end a caller waits.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "loop/condition.hpp"
#include "script/machine.hpp"

namespace strata::script {

/// Pass it to `machine::start`. `read` reads the handler's result once the handler has ended, which
/// may be at once: then there is nothing to wait for. The machine may be destroyed meanwhile.
template <class Read>
class question final : public waiter {
 public:
  using value_type = std::invoke_result_t<Read, const finished&>;

  question(loop::loop& loop, Read read) : read_(std::move(read)), ended_(loop) {}

  [[nodiscard]] bool has_ended() const { return value_.has_value(); }
  /// Waits for the end.
  [[nodiscard]] auto ended() {
    return ended_.wait([this] { return has_ended(); });
  }
  /// Returns the result, once the handler has ended.
  [[nodiscard]] value_type take() { return std::move(*value_); }

 private:
  void on_end(const finished& outcome) override {
    value_.emplace(read_(outcome));
    ended_.notify();
  }

  Read read_;
  loop::condition ended_;
  std::optional<value_type> value_;
};

/// Starts a handler and waits for its end. `read` reads its result once it has ended. `which` is a
/// callback's number, or a function, which is released once it has begun: the machine may be
/// destroyed during the wait.
template <class Which, class Read>
  requires(std::is_same_v<Which, std::size_t> || std::is_same_v<Which, value_ref>)
auto ask(machine& machine, Which which, std::vector<argument> arguments, Read read)
    -> loop::task<std::invoke_result_t<Read, const finished&>> {
  question<Read> one(machine.on(), std::move(read));
  {
    const auto begun = std::move(which);
    machine.start(begun, arguments, &one);
  }
  if (!one.has_ended()) {
    [[maybe_unused]] const bool has_come = co_await one.ended();
  }
  co_return one.take();
}

}  // namespace strata::script
