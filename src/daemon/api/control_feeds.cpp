// What the routes of the control API stream.
#include "daemon/api/control_api.hpp"
#include "daemon/supervisor/render.hpp"

namespace strata::daemon {

result<feed> control_api::messages_of(const std::string& name) const {
  auto found = supervisor_.find(name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->messages;
  return feed{
      .keeps = journal, .journal = journal.get(), .line = message_json, .always_follows = true};
}

result<feed> control_api::log_of(const std::string& name) const {
  auto found = supervisor_.find(name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->log;
  return feed{.keeps = journal, .journal = journal.get(), .line = log_line_json};
}

result<feed> control_api::events(const std::string& /*name*/) const {
  return feed{.journal = &supervisor_.events(), .line = event_json};
}

result<feed> control_api::stats_of(const std::string& name) const {
  auto found = supervisor_.find(name);
  if (!found) return std::unexpected(found.error());
  return feed{.sample = [this, entry = *found] {
    return entry->removed ? std::string() : dump(stats_json(*entry, supervisor_.home().now()));
  }};
}

result<feed> control_api::stats_of_all(const std::string& /*name*/) const {
  return feed{
      .sample = [this] { return dump(stats_json(supervisor_.list(), supervisor_.home().now())); }};
}

}  // namespace strata::daemon
