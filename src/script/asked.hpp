// A handler that a task awaits.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "loop/condition.hpp"
#include "script/machine.hpp"

namespace strata::script {

/// Awaits the end of a handler. What it gives is read by `read`, once it has ended.
/// `which` is a callback's number, or a function, which is let go once it has begun: the machine
/// may go while this waits.
template <class Which, class Read>
  requires(std::is_same_v<Which, std::size_t> || std::is_same_v<Which, value_ref>)
auto ask(machine& of, Which which, std::vector<argument> with, Read read)
    -> loop::task<std::invoke_result_t<Read, const finished&>> {
  using value_type = std::invoke_result_t<Read, const finished&>;
  class asking final : public waiter {
   public:
    asking(loop::loop& on, Read how) : ended(on), read_(std::move(how)) {}
    loop::condition ended;
    std::optional<value_type> value;

   private:
    void on_end(const finished& with) override {
      value.emplace(read_(with));
      ended.notify();
    }
    Read read_;
  };
  asking one(of.on(), std::move(read));
  bool has_ended = false;
  {
    const auto begun = std::move(which);
    has_ended = of.start(begun, with, &one);
  }
  if (!has_ended) {
    [[maybe_unused]] const bool has_come =
        co_await one.ended.wait([&one] { return one.value.has_value(); });
  }
  co_return std::move(*one.value);
}

}  // namespace strata::script
