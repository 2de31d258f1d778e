// `strata.events`: what happens to the daemon's runtimes is told to a function of the script.
#pragma once

#include "runtime/journal.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/subscription.hpp"

namespace strata::runtime::scripting {

class event_subscription final : public subscription {
 public:
  event_subscription(host& of, script::machine& by, script::value_ref call)
      : subscription(by, std::move(call)), host_(of) {}

  void begin(journal& events);

 private:
  void stop() override { following_ = {}; }

  host& host_;
  journal::following following_;
};

/// `strata.events(call)`.
void follow_events(host& of, script::call& with);

}  // namespace strata::runtime::scripting
