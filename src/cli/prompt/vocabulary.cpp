#include "cli/prompt/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/readable.hpp"
#include "text/word.hpp"

namespace strata::cli {

namespace {

using proto::resp_value;

/// Calls `use` for each key and value: a map in RESP3, an array in RESP2.
template <class Use>
void for_each_pair(const resp_value& value, Use use) {
  for (std::size_t at = 0; at + 1 < value.elements.size(); at += 2) {
    use(value.elements[at].text, value.elements[at + 1]);
  }
}

}  // namespace

// Fetched on first use. A cache that requires a password refuses until it has it.
void vocabulary::learn() {
  if (!known_.empty()) return;
  const auto reply = talk_.ask({"COMMAND", "DOCS"});
  if (!reply || !*reply) return;  // the next sender notices an end
  for_each_pair(**reply, [this](const std::string& name, const resp_value& about) {
    auto& made = known_[text::in_small_letters(name)];
    for_each_pair(about, [&made](const std::string& key, const resp_value& value) {
      if (key == "summary") made.summary = text::printable(value.text);
      if (key == "since") made.since = text::printable(value.text);
      if (key == "group") made.group = text::printable(value.text);
    });
  });
}

std::vector<std::string> vocabulary::words_from(std::string_view begun) {
  learn();
  const bool is_upper = !begun.empty() && begun.front() >= 'A' && begun.front() <= 'Z';
  std::vector<std::string> found;
  const auto wanted = text::in_small_letters(begun);
  for (auto at = known_.lower_bound(wanted); at != known_.end(); ++at) {
    if (!at->first.starts_with(wanted)) break;
    found.push_back(is_upper ? text::in_capitals(at->first) : at->first);
  }
  return found;
}

std::string vocabulary::help(std::string_view command) {
  if (command.empty()) {
    return "A line is a command and its arguments, quoted as for redis-cli. Tab completes a "
           "command;\n'help COMMAND' explains it. Ctrl-R searches previous lines.\n'quit' or "
           "Ctrl-D leaves; the cache keeps running.\n";
  }
  learn();
  const auto found = known_.find(text::in_small_letters(command));
  if (found == known_.end()) {
    return fmt::format("there is no help for '{}'\n", text::printable(command));
  }
  const auto& [name, about] = *found;
  return fmt::format("{}: {}\n  group {}, since Redis {}\n", text::in_capitals(name), about.summary,
                     about.group, about.since);
}

}  // namespace strata::cli
