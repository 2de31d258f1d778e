#include "runtime/event.hpp"

namespace strata::runtime {

nlohmann::json event_of(const journal_line& line) {
  auto event = nlohmann::json::parse(line.text, nullptr, false);
  if (!event.is_object()) event = {{"event", "lost"}, {"detail", line.text}};
  event["time"] = format_time(line.time);
  return event;
}

}  // namespace strata::runtime
