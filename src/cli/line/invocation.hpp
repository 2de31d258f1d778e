// A verb and what it was given: what every handler works from.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/daemon_address.hpp"
#include "cli/line/outcome.hpp"
#include "options/daemon_options.hpp"
#include "runtime/types/types.hpp"

namespace strata::cli {

struct invocation {
  std::string verb;  ///< its row's name
  std::vector<std::string> words;
  std::size_t first_literal = SIZE_MAX;     ///< from this word on they stood behind `--`
  nlohmann::json flags;                     ///< typed, by row key; only those given
  const runtime::type_row* type = nullptr;  ///< the runtime's, where the verb takes its options
  nlohmann::json type_options;              ///< those of the flags that belong to the type
  daemon_address daemon;
  bool is_shortened = false;  ///< the line named no verb
  bool as_json = false;
  bool quiet = false;
  std::function<int(const options::daemon_options&)> run_daemon;

  /// Whether the word is "-", for standard input. Behind `--` it is what it looks like.
  [[nodiscard]] bool is_dash(std::size_t offset) const {
    return offset < words.size() && offset < first_literal && words[offset] == "-";
  }
  [[nodiscard]] bool is_set(std::string_view key) const { return flags.value(key, false); }
  [[nodiscard]] std::string text(std::string_view key, std::string_view otherwise = {}) const {
    return flags.value(key, std::string(otherwise));
  }
};

/// The exit code; failures that were reported on the way are in it already.
using handler = outcome<int> (*)(const invocation&);

}  // namespace strata::cli
