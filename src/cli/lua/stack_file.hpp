// The functions that a file of `strata run` calls. They request the runtimes that the file
// describes from the daemon, and keep a list of what was done.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/invocation.hpp"
#include "script/call.hpp"
#include "script/library.hpp"
#include "stack/plan.hpp"

namespace strata::cli {

/// What was done to one runtime.
struct deed {
  std::string name;
  std::string effect;                ///< `created`, `changed`, `unchanged`, …
  std::vector<std::string> options;  ///< the changed options
  std::vector<std::string> waiting;  ///< the options among these that wait for a restart
};

class stack_file {
 public:
  /// Relative paths in options are below `folder`. `call` outlives this object.
  stack_file(const invocation& call, std::string folder);

  /// The functions of the table `strata`, to be bound to a stack_file.
  [[nodiscard]] static std::span<const script::function_row> functions();
  [[nodiscard]] const std::vector<deed>& deeds() const { return deeds_; }
  /// Whether the file has called any function.
  [[nodiscard]] bool was_called() const { return was_called_; }
  /// The last refusal by the daemon, if any.
  [[nodiscard]] const std::optional<refusal>& refused() const { return refused_; }

 private:
  using json = nlohmann::json;
  using option_reader = bool (stack_file::*)(script::call&, int, json&) const;

  void create(script::call& call);
  void edit(script::call& call) { change(call, &stack_file::read_options); }
  void reset(script::call& call) { change(call, &stack_file::read_resets); }
  void remove(script::call& call);
  void start(script::call& call) { act(call, "start", "running", "started"); }
  void stop(script::call& call) { act(call, "stop", "stopped", "stopped"); }
  void send(script::call& call);
  void ask(script::call& call);
  void get(script::call& call);
  void list(script::call& call);

  void act(script::call& call, const char* verb, std::string_view state, const char* effect);
  void change(script::call& call, option_reader read);
  void apply(script::call& call, const runtime::type_row& type,
             const stack::desired_runtime& desired,
             const std::optional<stack::present_runtime>& present);
  void make(script::call& call, const stack::desired_runtime& desired);
  /// Returns false if the call has failed.
  [[nodiscard]] bool adjust(script::call& call, const std::string& name, const stack::plan& plan,
                            bool is_running);
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
