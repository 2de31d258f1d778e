// The commands that a cache knows, as it tells them itself: to complete what is typed, and to help.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/prompt/dialogue.hpp"

namespace strata::cli {

class vocabulary {
 public:
  /// `talk` outlives it.
  explicit vocabulary(cache_talk& talk) : talk_(talk) {}

  /// In the case in which `begun` is written. Empty where the cache does not tell now.
  [[nodiscard]] std::vector<std::string> words_from(std::string_view begun);
  /// What the prompt can do, or what one command does; with line ends.
  [[nodiscard]] std::string help(std::string_view command);

 private:
  struct entry {
    std::string summary;
    std::string since;
    std::string group;
  };

  void learn();

  cache_talk& talk_;
  std::map<std::string, entry, std::less<>> known_;
};

}  // namespace strata::cli
