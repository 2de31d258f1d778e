#include "script/timers.hpp"

#include <utility>

#include "script/machine.hpp"

namespace strata::script {

class timers::timer final : public loop::timer {
 public:
  timer(timers& owner, std::uint64_t id, loop::duration interval, bool repeats, value_ref function)
      : owner_(owner),
        id_(id),
        interval_(interval),
        repeats_(repeats),
        function_(std::move(function)) {}

 private:
  void on_timer() override {
    if (repeats_) {
      owner_.loop_.arm_after(*this, interval_);
      owner_.machine_.start(function_, {});
      return;
    }
    // The called function may disarm this timer.
    const auto self = owner_.all_.extract(id_);
    owner_.machine_.start(function_, {});
  }

  timers& owner_;
  std::uint64_t id_;
  loop::duration interval_;
  bool repeats_;
  value_ref function_;
};

timers::timers(machine& machine, loop::loop& loop, std::size_t limit)
    : machine_(machine), loop_(loop), limit_(limit) {}

timers::~timers() = default;

std::uint64_t timers::arm(loop::duration after, bool repeats, value_ref function) {
  if (all_.size() >= limit_) return 0;
  const auto id = ++last_id_;
  auto added = std::make_unique<timer>(*this, id, after, repeats, std::move(function));
  loop_.arm_after(*added, after);
  all_.emplace(id, std::move(added));
  return id;
}

void timers::disarm(std::uint64_t timer) { all_.erase(timer); }

void timers::clear() { all_.clear(); }

}  // namespace strata::script
