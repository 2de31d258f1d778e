#include "runtime/cache/engine/scripts/script_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "proto/resp/resp_request.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::string_view beginning = "#!";

constexpr std::array<std::pair<std::string_view, script_flag>, 5> flag_names = {{
    {"no-writes", script_no_writes},
    {"allow-oom", script_allow_oom},
    {"allow-stale", script_allow_stale},
    {"no-cluster", script_no_cluster},
    {"allow-cross-slot-keys", script_allow_cross_slot_keys},
}};

// Names between commas, which may be empty.
std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  for (auto is_over = list.empty(); !is_over;) {
    const auto end = list.find(',');
    names.push_back(list.substr(0, end));
    is_over = end == std::string_view::npos;
    if (!is_over) list.remove_prefix(end + 1);
  }
  return names;
}

}  // namespace

bool is_script_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z');
  });
}

std::optional<script_flag> find_script_flag(std::string_view name) {
  const auto* const found =
      std::ranges::find(flag_names, name, [](const auto& each) { return each.first; });
  if (found == flag_names.end()) return std::nullopt;
  return found->second;
}

std::string_view name_of(script_flag flag) {
  return std::ranges::find(flag_names, flag, [](const auto& each) { return each.second; })->first;
}

std::expected<script_head, std::string> read_script_head(std::string_view text) {
  script_head head{.body = text};
  if (!text.starts_with(beginning)) return head;
  head.is_there = true;
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::unexpected("ERR Invalid script shebang");
  head.body = text.substr(end);
  std::vector<std::string> parts;
  if (!proto::split_words(text.substr(0, end), parts)) {
    return std::unexpected("ERR Invalid engine in script shebang");
  }
  head.engine = parts[0].substr(beginning.size());
  if (head.engine != "lua") {
    return std::unexpected(fmt::format("ERR Unexpected engine in script shebang: {}", parts[0]));
  }
  for (const std::string_view part : std::span(parts).subspan(1)) {
    constexpr std::string_view option = "flags=";
    if (!part.starts_with(option)) {
      return std::unexpected(fmt::format("ERR Unknown lua shebang option: {}", part));
    }
    for (const auto name : names_in(part.substr(option.size()))) {
      const auto flag = find_script_flag(name);
      if (!flag) {
        return std::unexpected(fmt::format("ERR Unexpected flag in script shebang: {}", name));
      }
      head.flags |= *flag;
    }
  }
  return head;
}

std::expected<script_head, std::string> read_library_head(std::string_view text) {
  if (!text.starts_with(beginning)) return std::unexpected("ERR Missing library metadata");
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::unexpected("ERR Invalid library metadata");
  std::vector<std::string> parts;
  if (!proto::split_words(text.substr(0, end), parts)) {
    return std::unexpected("ERR Invalid library metadata");
  }
  script_head head{
      .is_there = true, .engine = parts[0].substr(beginning.size()), .body = text.substr(end)};
  std::optional<std::string> given;
  for (const std::string_view part : std::span(parts).subspan(1)) {
    constexpr std::string_view option = "name=";
    if (part.size() < option.size() || !text::same_text(part.substr(0, option.size()), option)) {
      return std::unexpected(fmt::format("ERR Invalid metadata value given: {}", part));
    }
    if (given) {
      return std::unexpected("ERR Invalid metadata value, name argument was given multiple times");
    }
    given = part.substr(option.size());
  }
  if (!given) return std::unexpected("ERR Library name was not given");
  head.name = std::move(*given);
  if (!is_script_name(head.name)) {
    return std::unexpected(
        "ERR Library names can only contain letters, numbers, or underscores(_) and must be at "
        "least one character long");
  }
  if (!text::same_text(head.engine, "lua")) {
    return std::unexpected(fmt::format("ERR Engine '{}' not found", head.engine));
  }
  return head;
}

}  // namespace strata::runtime::cache
