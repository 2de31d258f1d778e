#include "runtime/scripting/event_subscription.hpp"

#include <memory>

#include "runtime/event.hpp"
#include "runtime/house.hpp"
#include "runtime/journal.hpp"

namespace strata::runtime::scripting {

void event_subscription::begin(journal& events) {
  following_ = events.follow(host_.on(), [this](const journal_line& line) {
    if (tell({event_of(line)}) || is_closed()) return;
    host_.log_few("events", level::warning,
                  "an event is lost: a function that strata.events calls does not end");
  });
}

void follow_events(host& of, script::call& with) {
  auto made = std::make_shared<event_subscription>(of, with.by(), with.function(0));
  if (!with.give(subscription_kind(), made)) return;
  made->stay(with.keep_given());
  made->begin(of.who().others->events());
}

}  // namespace strata::runtime::scripting
