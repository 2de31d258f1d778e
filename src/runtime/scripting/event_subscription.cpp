#include "runtime/scripting/event_subscription.hpp"

#include <memory>

#include "runtime/event.hpp"
#include "runtime/journal.hpp"
#include "runtime/runtime_service.hpp"

namespace strata::runtime::scripting {

void event_subscription::begin(journal& events) {
  following_ = events.follow(host_.on(), [this](const journal_line& line) {
    if (notify({event_of(line)}) || is_closed()) return;
    host_.log_few("events", level::warning,
                  "an event is lost: a function that strata.events calls does not end");
  });
}

void follow_events(host& host, script::call& call) {
  auto made = std::make_shared<event_subscription>(host, call.by(), call.function(0));
  if (!call.give(subscription_kind(), made)) return;
  made->stay(call.keep_given());
  made->begin(host.who().others->events());
}

}  // namespace strata::runtime::scripting
