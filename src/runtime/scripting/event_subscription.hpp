// `strata.events`: passes events of the daemon's runtimes to a function of the script.
#pragma once

#include "runtime/journal.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/subscription.hpp"

namespace strata::runtime::scripting {

class event_subscription final : public subscription {
 public:
  event_subscription(host& host, script::machine& machine, script::value_ref call)
      : subscription(machine, std::move(call)), host_(host) {}

  void begin(journal& events);

 private:
  void stop() override { following_ = {}; }

  host& host_;
  journal::following following_;
};

/// `strata.events(call)`.
void follow_events(host& host, script::call& call);

}  // namespace strata::runtime::scripting
