// The skeleton of a type that runs scripts, one in each part.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/scripting/figures.hpp"
#include "runtime/scripting/shared_store.hpp"
#include "runtime/sharded.hpp"

namespace strata::runtime::scripting {

/// `Options` has `lua`. A part has `script()`: null where there is none, else something with
/// `counted()`, `reload()`, `evaluate(text, limit)` and `on_send(message)`.
template <class Options, class Part>
class scripted : public sharded<Options, Part> {
 public:
  using sharded<Options, Part>::sharded;

  loop::task<result<void>> reload_script() override {
    if (this->running().lua.empty()) co_return co_await sharded<Options, Part>::reload_script();
    for (std::size_t i = 0; i < this->parts().size(); ++i) {
      auto loaded = co_await this->run_at(i, [](Part& part) { return part.script()->reload(); });
      if (!loaded) co_return loaded;
    }
    co_return result<void>{};
  }
  loop::task<result<nlohmann::json>> evaluate(std::string text, loop::time_point limit) override {
    if (this->running().lua.empty()) {
      co_return co_await sharded<Options, Part>::evaluate(std::move(text), limit);
    }
    auto ask = [&at = this->part_at(0), text = std::move(text), limit] {
      return at.script()->evaluate(text, limit);
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
  /// What the script of the first part makes of a message that `strata send` sends: nullopt when it
  /// drops it. The message itself, without a script.
  loop::task<std::optional<std::string>> change_sent(std::string message) {
    if (this->running().lua.empty()) co_return message;
    auto ask = [&at = this->part_at(0), &message] {
      return at.script()->on_send(std::move(message));
    };
    co_return co_await loop::call_on(this->given().home, this->loop_of(0), std::move(ask));
  }
  /// It stays when the runtime stops.
  [[nodiscard]] const std::shared_ptr<shared_store>& shared() const { return shared_; }

 private:
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

}  // namespace strata::runtime::scripting
