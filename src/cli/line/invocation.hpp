// A verb and its arguments: the input of every handler.
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
  std::string verb;  ///< the name in its row
  std::vector<std::string> words;
  std::size_t first_literal = SIZE_MAX;     ///< index of the first word behind `--`
  nlohmann::json flags;                     ///< typed, by row key; only the given ones
  const runtime::type_row* type = nullptr;  ///< the runtime's type, if the verb takes its options
  nlohmann::json type_options;              ///< the flags that belong to the type
  daemon_address daemon;
  bool is_shortened = false;  ///< the line named no verb
  bool as_json = false;
  bool quiet = false;
  std::function<int(const options::daemon_options&)> run_daemon;

  /// Whether the word is "-", for standard input. Behind `--` it is literal text.
  [[nodiscard]] bool is_dash(std::size_t offset) const {
    return offset < words.size() && offset < first_literal && words[offset] == "-";
  }
  [[nodiscard]] bool is_set(std::string_view key) const { return flags.value(key, false); }
  [[nodiscard]] std::string text(std::string_view key, std::string_view otherwise = {}) const {
    return flags.value(key, std::string(otherwise));
  }
};

/// Returns the exit code, which includes failures reported on the way.
using handler = outcome<int> (*)(const invocation&);

}  // namespace strata::cli
