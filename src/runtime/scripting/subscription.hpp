// What a script follows: a function of the script is called for each thing that comes, in its
// order, and the next one waits until the function has ended.
//
// It goes on, although the script forgets it, until it is closed or the script goes.
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

  /// The script need not hold it, whose reference `self` is.
  void stay(script::value_ref self) { self_ = std::move(self); }

  // --- what scripts call
  void close_by(script::call& /*with*/) { close(); }
  void is_open(script::call& call) const { call.give(!is_closed_); }

 protected:
  /// The function will be called with these. False: too much waits for it already, or it is closed.
  bool tell(std::vector<nlohmann::json> values);
  /// Awaits that little waits.
  [[nodiscard]] loop::task<> room();
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// Nothing more is to come.
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
