// Carries out the plans of a stack through the daemon, and keeps a list of what was done.
//
// Each request of a runtime's present state is a request to the daemon; nothing is cached.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/outcome.hpp"
#include "runtime/types/types.hpp"
#include "stack/plan.hpp"

namespace strata::cli {

/// What was done to one runtime.
struct deed {
  std::string name;
  std::string daemon;                ///< empty: there is only one
  std::string effect;                ///< `created`, `changed`, `unchanged`, …
  std::vector<std::string> options;  ///< the changed options
  std::vector<std::string> waiting;  ///< the options among these that wait for a restart
};

/// NAME, or NAME@DAEMON for a daemon.
[[nodiscard]] std::string shown_name(const std::string& name, const std::string& daemon);

/// "web: changed: group"; for a dry run, "web: would be changed: group". One line.
[[nodiscard]] std::string line_of(const deed& deed, bool is_dry);
/// What a dry run would do, one line: "plan: create api, front; change store (port); keep 3".
[[nodiscard]] std::string plan_line(const std::vector<deed>& deeds);
[[nodiscard]] nlohmann::json json_of(const std::vector<deed>& deeds);

/// The state of a runtime as the daemon shows it; nullopt for null.
[[nodiscard]] std::optional<stack::present_runtime> present_in(const nlohmann::json& shown);

class deployment {
 public:
  struct settings {
    bool is_dry = false;    ///< nothing is changed
    bool restarts = false;  ///< running runtimes are restarted if a change needs it
    /// Whether a dry run also tries what a start needs, such as ports, which a change may free.
    bool tries_start = true;
    std::string daemon = {};  ///< the daemon's name, in deeds; empty: there is only one
  };
  /// `deeds` outlives it; deployments on several daemons may have it in common.
  deployment(daemon_address daemon, settings settings, std::vector<deed>& deeds)
      : client_(std::move(daemon)), settings_(std::move(settings)), deeds_(deeds) {}

  /// The runtime as the daemon shows it; null if there is none.
  [[nodiscard]] outcome<nlohmann::json> find(const std::string& name);
  /// Makes the runtime as desired: creates it, or changes and starts it. `present`: its state.
  [[nodiscard]] outcome<> apply(const runtime::type_row& type,
                                const stack::desired_runtime& desired,
                                const std::optional<stack::present_runtime>& present);
  [[nodiscard]] outcome<> start(const std::string& name) {
    return act(name, "start", "running", "started");
  }
  [[nodiscard]] outcome<> stop(const std::string& name) {
    return act(name, "stop", "stopped", "stopped");
  }
  [[nodiscard]] outcome<> remove(const std::string& name);

  [[nodiscard]] bool is_dry() const { return settings_.is_dry; }
  [[nodiscard]] bool restarts() const { return settings_.restarts; }
  /// Whether a dry run would have created the runtime.
  [[nodiscard]] bool is_planned(const std::string& name) const { return planned_.contains(name); }
  [[nodiscard]] const std::vector<deed>& deeds() const { return deeds_; }
  [[nodiscard]] control_client& client() { return client_; }
  [[nodiscard]] const std::string& daemon() const { return settings_.daemon; }
  /// As deeds show the runtime.
  [[nodiscard]] std::string shown_name(const std::string& name) const {
    return cli::shown_name(name, settings_.daemon);
  }

 private:
  [[nodiscard]] outcome<> create(const stack::desired_runtime& desired);
  [[nodiscard]] outcome<> adjust(const std::string& name, const stack::plan& plan, bool is_running);
  [[nodiscard]] outcome<> act(const std::string& name, const char* verb, std::string_view state,
                              const char* effect);
  void add(const std::string& name, const char* effect) {
    deeds_.push_back({name, settings_.daemon, effect, {}, {}});
  }

  control_client client_;
  settings settings_;
  std::vector<deed>& deeds_;
  std::set<std::string> planned_;  // runtimes that a dry run would have created
};

/// The message of an error of `stack`.
[[nodiscard]] std::string message_of(const error& failure);

}  // namespace strata::cli
