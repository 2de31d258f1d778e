#include "daemon/supervisor/entry.hpp"

#include "text/json_text.hpp"
#include "text/nearest.hpp"

namespace strata::daemon {

namespace {

void merge(nlohmann::json& options, const nlohmann::json& changes) {
  for (const auto& [key, value] : changes.items()) {
    if (value.is_null()) {
      options.erase(key);
    } else {
      options[key] = value;
    }
  }
}

}  // namespace

std::string_view name_of(run_state state) {
  switch (state) {
    case run_state::created: return "created";
    case run_state::running: return "running";
    case run_state::stopping: return "stopping";
    case run_state::stopped: return "stopped";
    case run_state::failed: return "failed";
  }
  return "created";
}

nlohmann::json entry::options_with(const nlohmann::json& changes) const {
  auto options = body->options(true);
  merge(options, unapplied);
  merge(options, changes);
  return options;
}

record entry::present_record() const {
  auto present = desired;
  present.options = text::write_json(options_with({}));
  return present;
}

std::unexpected<error> not_found(const std::string& name, std::span<const std::string> known) {
  return failure(errc::not_found, "find runtime '" + name + "'",
                 "no runtime has this name" + text::did_you_mean(name, known),
                 "list runtimes with: strata ls");
}

}  // namespace strata::daemon
