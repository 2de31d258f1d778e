// A subscription of a script: calls a function of the script for each arrival, in order; the next
// call waits until the function has ended.
//
// It continues even if the script drops it, until it is closed or the script ends.
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "loop/condition.hpp"
#include "script/call.hpp"
#include "script/machine.hpp"

namespace strata::runtime::scripting {

class subscription : public script::object, private script::waiter, private loop::turn_end_hook {
 public:
  subscription(script::machine& machine, script::value_ref call);

  void close() override;

  /// Keeps it alive without the script: `self` is the reference to it.
  void stay(script::value_ref self) { self_ = std::move(self); }

  // --- what scripts call
  void close_by(script::call& /*with*/) { close(); }
  void is_open(script::call& call) const { call.give(!is_closed_); }

 protected:
  /// Calls the function with these values. Returns false if too many calls are queued, or it is
  /// closed.
  bool notify(std::vector<nlohmann::json> values);
  /// Waits until few calls are queued.
  [[nodiscard]] loop::task<> room();
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// Stops the source of arrivals.
  virtual void stop() = 0;

 private:
  void on_end(const script::finished& outcome) override;
  void on_turn_end() override;

  script::machine& machine_;
  loop::loop& loop_;
  script::value_ref self_;
  script::value_ref call_;
  std::deque<std::vector<nlohmann::json>> waiting_;
  loop::condition taken_;
  bool is_running_ = false;
  bool is_closed_ = false;
};

[[nodiscard]] const script::object_kind& subscription_kind();

}  // namespace strata::runtime::scripting
