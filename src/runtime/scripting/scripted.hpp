// The base of a runtime type that runs scripts, one in each part.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/operations.hpp"
#include "runtime/scripting/evaluation.hpp"
#include "runtime/scripting/figures.hpp"
#include "runtime/scripting/shared_store.hpp"
#include "runtime/sharded.hpp"

namespace strata::runtime::scripting {

/// `Options` has `lua`. A part has `script()`: null if there is none, otherwise an object with
/// `counted()`, `reload()`, `evaluate(text, limit)` and `on_send(message)`.
template <class Options, class Part>
class scripted : public sharded<Options, Part> {
 public:
  using sharded<Options, Part>::sharded;

  /// Loads the script again. Errors: those of the script, which is not replaced then; not_supported
  /// if there is no script.
  loop::task<result<nlohmann::json>> reload_script(operation_call /*call*/) {
    if (this->running().lua.empty()) co_return no_script("load the script again");
    for (std::size_t i = 0; i < this->parts().size(); ++i) {
      auto loaded = co_await this->run_at(i, [](Part& part) {
        return part.script() != nullptr ? part.script()->reload() : result<void>{};
      });
      if (loaded) continue;
      this->given().log->write(level::error, describe(loaded.error()));
      co_return std::unexpected(loaded.error());
    }
    this->given().report("reloaded", "loaded its script again");
    co_return nlohmann::json();
  }
  /// Runs the body in the script; of several scripts, in the first loop's. The runtime may end
  /// meanwhile. Returns the result of `scripting::evaluate`. Errors: those of the limit;
  /// not_supported if there is no script.
  loop::task<result<nlohmann::json>> evaluate(operation_call call) {
    if (this->running().lua.empty()) co_return no_script("evaluate a line");
    auto ask = [&part = this->part_at(0), call = std::move(call)] {
      return part.script()->evaluate(call.body, call.limit);
    };
    co_return co_await loop::call_on(this->given().home, this->loop_of(0), std::move(ask));
  }
  [[nodiscard]] std::vector<nlohmann::json> figures() const override {
    auto values = sharded<Options, Part>::figures();
    std::ranges::move(values_of(counted_script(), script_figure_table()),
                      std::back_inserter(values));
    return values;
  }

 protected:
  void keep_figures() override {
    sharded<Options, Part>::keep_figures();
    past_ = past_figures(counted_script(), script_figure_table());
  }

  // --- what a type uses
  /// Passes a message from `strata send` through the first part's script: nullopt if it drops the
  /// message. Without a script, the message is not changed.
  loop::task<std::optional<std::string>> change_sent(std::string message) {
    if (this->running().lua.empty()) co_return message;
    auto ask = [&at = this->part_at(0), &message] {
      return at.script()->on_send(std::move(message));
    };
    co_return co_await loop::call_on(this->given().home, this->loop_of(0), std::move(ask));
  }
  /// The store, which is kept when the runtime stops.
  [[nodiscard]] const std::shared_ptr<shared_store>& shared() const { return shared_; }

 private:
  static std::unexpected<error> no_script(const char* operation) {
    return failure(errc::not_supported, operation, "it runs no script",
                   "give it one: strata edit NAME --lua FILE");
  }
  [[nodiscard]] script_figures counted_script() const {
    auto sum = past_;
    for (std::size_t i = 0; i < this->opened(); ++i) {
      const auto* const script = this->part_at(i).script();
      if (script != nullptr) add_figures(sum, script->counted(), script_figure_table());
    }
    return sum;
  }

  script_figures past_;
  std::shared_ptr<shared_store> shared_ = std::make_shared<shared_store>();
};

/// The operations of such a type, with the class `Runtime`.
template <class Runtime>
[[nodiscard]] std::vector<operation_row> script_operations() {
  return {{.name = "reload-lua",
           .method = "POST",
           .summary = "reload the script; if it has an error, the running one stays in use",
           .needed = role::operate,
           .is_change = true,
           .run = operation_method<&Runtime::reload_script>::run},
          {.name = "eval-lua",
           .method = "POST",
           .summary = "run the body, a Lua expression or statements, in the script",
           .verb = "lua repl",
           .body_type = "text/plain",
           .schema = "Evaluation",
           .answer = evaluation_rows(),
           .needed = role::admin,
           .timeout_s = 20,
           .is_in_turn = false,
           .run = operation_method<&Runtime::evaluate>::run}};
}

}  // namespace strata::runtime::scripting
