// The functions that a file of `strata run` calls: they deploy the runtimes that it describes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/invocation.hpp"
#include "cli/stack/deployment.hpp"
#include "script/call.hpp"
#include "script/library.hpp"
#include "stack/plan.hpp"

namespace strata::cli {

class stack_file {
 public:
  /// Relative paths in options are below `folder`. `call` outlives this object.
  stack_file(const invocation& call, std::string folder);

  /// The functions of the table `strata`, to be bound to a stack_file.
  [[nodiscard]] static std::span<const script::function_row> functions();
  [[nodiscard]] const deployment& deployed() const { return deployment_; }
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
  void remove(script::call& call) { act(call, &deployment::remove); }
  void start(script::call& call) { act(call, &deployment::start); }
  void stop(script::call& call) { act(call, &deployment::stop); }
  void send(script::call& call);
  void ask(script::call& call);
  void get(script::call& call);
  void list(script::call& call);

  void change(script::call& call, option_reader read);
  void apply(script::call& call, const runtime::type_row& type,
             const stack::desired_runtime& desired,
             const std::optional<stack::present_runtime>& present);
  using act_on_name = outcome<> (deployment::*)(const std::string&);
  void act(script::call& call, act_on_name act);
  /// Fails the call if the daemon has refused.
  void accept(script::call& call, outcome<> answer);
  [[nodiscard]] bool read_options(script::call& call, int index, json& value) const;
  [[nodiscard]] bool read_resets(script::call& call, int index, json& value) const;
  [[nodiscard]] bool normalise(script::call& call, const runtime::type_row& type,
                               json& options) const;
  [[nodiscard]] const runtime::type_row* type_of(script::call& call, const std::string& name) const;
  [[nodiscard]] std::optional<json> find(script::call& call, const std::string& name);
  [[nodiscard]] std::optional<json> accepted(script::call& call, outcome<json> answer);

  std::vector<deed> deeds_;
  deployment deployment_;
  std::string folder_;
  std::optional<refusal> refused_;
  bool was_called_ = false;
};

}  // namespace strata::cli
