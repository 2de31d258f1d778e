// The commands of a cache, fetched from the cache itself: for completion and help.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/prompt/dialogue.hpp"

namespace strata::cli {

class vocabulary {
 public:
  /// `talk` outlives this object.
  explicit vocabulary(cache_talk& talk) : talk_(talk) {}

  /// Completions in the case of `begun`. Empty if the cache does not provide them now.
  [[nodiscard]] std::vector<std::string> words_from(std::string_view begun);
  /// Help on the prompt, or on one command; with line ends.
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
