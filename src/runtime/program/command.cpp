#include "runtime/program/command.hpp"

#include <fmt/format.h>

#include <optional>

namespace strata::runtime::program {

namespace {

std::unexpected<error> refuse(std::string_view command, std::string reason, std::string advice) {
  return failure(errc::invalid_argument, fmt::format("run '{}'", command), std::move(reason),
                 std::move(advice));
}

}  // namespace

result<std::vector<std::string>> split_command(std::string_view command) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // the present one
  char quote = 0;
  for (std::size_t at = 0; at < command.size(); ++at) {
    const char letter = command[at];
    const bool is_blank = letter == ' ' || letter == '\t' || letter == '\n';
    if (quote == 0 && is_blank) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (letter == quote) {
      quote = 0;
    } else if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
    } else if (letter == '\\' && quote != '\'') {
      if (++at == command.size()) {
        return refuse(command, "it ends with a backslash", "write \\\\ for a backslash");
      }
      *word += command[at];
    } else {
      *word += letter;
    }
  }
  if (quote != 0) return refuse(command, fmt::format("a {} has no end", quote), "close the quotes");
  if (word) words.push_back(std::move(*word));
  if (words.empty()) return refuse(command, "it names no program", "write './server --port 80'");
  return words;
}

result<std::string> with_places(std::string_view text, const place_values& values) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      filled += text[at++];
      continue;
    }
    if (text.substr(at).starts_with("{{")) {
      filled += '{';
      at += 2;
      continue;
    }
    const auto end = text.find('}', at);
    const auto name = text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    if (end == std::string_view::npos || (name != "name" && name != "port" && name != "instance")) {
      return refuse(text,
                    fmt::format("'{{{}' is none of {{port}}, {{instance}} and {{name}}", name),
                    "write {{ for a brace");
    }
    if (name == "port" && values.port.empty()) {
      return refuse(text, "it has {port}, but the program has none", "give --port");
    }
    filled += name == "name"   ? values.name
              : name == "port" ? values.port
                               : std::to_string(values.instance);
    at = end + 1;
  }
  return filled;
}

}  // namespace strata::runtime::program
