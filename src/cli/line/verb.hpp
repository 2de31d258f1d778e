// A verb of the command line, as its row in the table tells it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/line/command_line.hpp"
#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"
#include "runtime/options.hpp"

namespace strata::cli {

enum class verb_group : std::uint8_t { runtimes, look, talk, ethernet, netlink, system };

/// Finds the type whose options the verb takes too, from the verb's first word.
using type_finder = outcome<const runtime::type_row*> (*)(const std::string& first_word,
                                                          const std::string& socket);

struct verb_row {
  std::string_view name;      ///< one word, or a family's and its member's: `l2 send`
  std::string_view synopsis;  ///< what follows the name: `NAME|GLOB...`
  verb_group group = verb_group::system;
  std::string_view summary;
  std::size_t least_words = 0;
  std::size_t most_words = 0;
  handler run = nullptr;
  option_rows flags = {};
  type_finder find_type = nullptr;
};

/// For `most_words`: no limit.
inline constexpr std::size_t any_number = SIZE_MAX;

}  // namespace strata::cli
