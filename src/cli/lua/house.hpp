// What a file of `strata run` asks for, done to a daemon: runtimes that are as they are described,
// and what had to be done for that.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/invocation.hpp"
#include "script/call.hpp"
#include "script/library.hpp"

namespace strata::cli {

/// What was done to one runtime.
struct deed {
  std::string name;
  std::string what;                  ///< `created`, `changed`, `unchanged`, …
  std::vector<std::string> options;  ///< that were changed
  std::vector<std::string> waiting;  ///< of these, those that wait for a restart
};

class house {
 public:
  /// Relative paths in options are meant below `folder`. The call outlives this.
  house(const invocation& call, std::string folder);

  /// The table `strata` of such a file, to be bound to a house.
  [[nodiscard]] static std::span<const script::function_row> functions();
  [[nodiscard]] const std::vector<deed>& deeds() const { return deeds_; }
  /// Whether the file has asked for anything.
  [[nodiscard]] bool was_called() const { return was_called_; }
  /// What was refused last, if that was the daemon's doing.
  [[nodiscard]] const std::optional<refusal>& refused() const { return refused_; }

 private:
  using json = nlohmann::json;

  void create(script::call& call);
  void edit(script::call& call);
  void reset(script::call& call);
  void remove(script::call& call);
  void start(script::call& call) { act(call, "start", "running", "started"); }
  void stop(script::call& call) { act(call, "stop", "stopped", "stopped"); }
  void send(script::call& call);
  void ask(script::call& call);
  void get(script::call& call);
  void list(script::call& call);

  void act(script::call& call, const char* verb, std::string_view state, const char* done);
  void make(script::call& call, json body);
  void adjust(script::call& call, const runtime::type_row& type, const json& there, json options);
  void change(script::call& call, bool (house::*read)(script::call&, int, json&) const);
  [[nodiscard]] bool read_options(script::call& call, int index, json& value) const;
  [[nodiscard]] bool read_resets(script::call& call, int index, json& value) const;
  [[nodiscard]] bool normalise(script::call& call, const runtime::type_row& type,
                               json& options) const;
  [[nodiscard]] const runtime::type_row* type_of(script::call& call, const std::string& name) const;
  [[nodiscard]] std::optional<json> find(script::call& call, const std::string& name);
  [[nodiscard]] std::optional<json> accepted(script::call& call, outcome<json> answer);
  [[nodiscard]] bool may_act() const { return !is_dry_; }

  control_client client_;
  std::string folder_;
  bool is_dry_;
  bool restarts_;
  std::vector<deed> deeds_;
  std::set<std::string> planned_;  // runtimes that a dry run would have created
  std::optional<refusal> refused_;
  bool was_called_ = false;
};

}  // namespace strata::cli
