#include "cli/stack/stack_source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

namespace strata::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_bytes = (1U << 20U) + 1;  // one more than a document may have

using variables = std::map<std::string, std::string>;

outcome<variables> variables_of(const invocation& call) {
  variables all;
  for (const auto& each : call.flags.value("set", std::vector<std::string>{})) {
    const auto equals = each.find('=');
    if (equals == std::string::npos || equals == 0) {
      return refuse(exit_misused, fmt::format("--set takes NAME=VALUE, not '{}'", each));
    }
    all[each.substr(0, equals)] = each.substr(equals + 1);
  }
  return all;
}

outcome<std::string> text_of_input() {
  std::string text;
  char part[16384];
  while (text.size() < most_bytes) {
    const auto count = ::read(STDIN_FILENO, part, sizeof part);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return refuse(exit_failed, fmt::format("cannot read standard input: {}",
                                             std::generic_category().message(errno)));
    }
    text.append(part, static_cast<std::size_t>(count));
  }
  return text;
}

outcome<std::string> text_of_file(const std::string& name) {
  std::error_code wrong;
  if (fs::is_directory(name, wrong)) {
    return refuse(exit_failed, fmt::format("cannot read the stack '{}': it is a folder", name));
  }
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  std::string text(most_bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.eof() && (file.fail() || file.bad())) {
    return refuse(exit_failed, fmt::format("cannot read the stack '{}': {}; name another file with "
                                           "-f FILE",
                                           name, std::generic_category().message(errno)));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::string stack_file_name(const invocation& call) {
  constexpr auto usual = "strata.yaml";
  constexpr auto other = "strata.yml";
  if (auto given = call.text("file"); !given.empty()) return given;
  std::error_code ignored;
  return !fs::exists(usual, ignored) && fs::exists(other, ignored) ? other : usual;
}

stack::reading reading_of(const invocation& call, const std::string& file) {
  stack::reading reading{.file = file == "-" ? "standard input" : file,
                         .folder = file == "-" ? fs::current_path().string()
                                               : fs::absolute(file).parent_path().string()};
  reading.rows_of = [](std::string_view name) -> std::span<const options::option_row> {
    const auto* const type = runtime::find_type(name);
    if (type == nullptr) return {};
    return type->rows();
  };
  for (const auto& type : runtime::types()) reading.types.emplace_back(type.name);
  const auto set = variables_of(call);
  reading.variable =
      [set = set.value_or(variables{})](const std::string& name) -> std::optional<std::string> {
    if (const auto known = set.find(name); known != set.end()) return known->second;
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return reading;
}

outcome<stack::document> read_stack(const invocation& call) {
  if (const auto set = variables_of(call); !set) return std::unexpected(set.error());
  const auto file = stack_file_name(call);
  const auto text = file == "-" ? text_of_input() : text_of_file(file);
  if (!text) return std::unexpected(text.error());
  const auto reading = reading_of(call, file);
  auto document =
      stack::read_document(*text, fs::path(reading.folder).filename().string(), reading);
  if (!document) return refuse(exit_failed, document.error().reason);
  return std::move(*document);
}

}  // namespace strata::cli
