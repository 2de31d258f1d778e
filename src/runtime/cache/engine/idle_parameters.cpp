#include "runtime/cache/engine/idle_parameters.hpp"

#include <algorithm>

#include "text/pattern.hpp"
#include "text/redis_number.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

struct idle_row {
  std::string_view name;
  std::string_view usual;         // Redis's default; yes or no: the parameter is one of them
  std::string_view choices = {};  // separated by ", "; empty: a number, or yes and no
  bool is_hidden = false;
};

constexpr std::string_view yes_or_no = "yes, no";

// clang-format off
constexpr idle_row idle_table[] = {
    {"active-defrag-cycle-max", "25"},
    {"active-defrag-cycle-min", "1"},
    {"active-defrag-ignore-bytes", "104857600"},
    {"active-defrag-max-scan-fields", "1000"},
    {"active-defrag-threshold-lower", "10"},
    {"active-defrag-threshold-upper", "100"},
    {"active-expire-effort", "1"},
    {"activedefrag", "no", yes_or_no},
    {"aof-disable-auto-gc", "no", yes_or_no},
    {"aof-load-truncated", "yes", yes_or_no},
    {"aof-rewrite-incremental-fsync", "yes", yes_or_no},
    {"aof-timestamp-enabled", "no", yes_or_no},
    {"crash-log-enabled", "yes", yes_or_no},
    {"crash-memcheck-enabled", "yes", yes_or_no},
    {"dynamic-hz", "yes", yes_or_no},
    {"jemalloc-bg-thread", "yes", yes_or_no},
    {"key-load-delay", "0", {}, true},
    {"lazyfree-lazy-eviction", "no", yes_or_no},
    {"lazyfree-lazy-server-del", "no", yes_or_no},
    {"list-compress-depth", "0"},
    {"loglevel", "notice", "debug, verbose, notice, warning, nothing"},
    {"maxmemory-eviction-tenacity", "10"},
    {"no-appendfsync-on-rewrite", "no", yes_or_no},
    {"rdb-del-sync-files", "no", yes_or_no},
    {"rdb-key-save-delay", "0", {}, true},
    {"rdb-save-incremental-fsync", "yes", yes_or_no},
    {"repl-backlog-ttl", "3600"},
    {"repl-disable-tcp-nodelay", "no", yes_or_no},
    {"repl-diskless-load", "disabled", "disabled, on-empty-db, swapdb"},
    {"repl-diskless-sync", "yes", yes_or_no},
    {"repl-diskless-sync-delay", "5"},
    {"repl-diskless-sync-max-replicas", "0"},
    {"replica-ignore-maxmemory", "yes", yes_or_no},
    {"replica-lazy-flush", "no", yes_or_no},
    {"sanitize-dump-payload", "no", "no, yes, clients"},
    {"slave-ignore-maxmemory", "yes", yes_or_no},
    {"slave-lazy-flush", "no", yes_or_no},
};
// clang-format on

const idle_row* find_idle_row(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      idle_table, [name](const idle_row& each) { return text::same_text(each.name, name); });
  return found == std::end(idle_table) ? nullptr : found;
}

bool is_choice(const idle_row& row, std::string_view value) {
  for (std::size_t at = 0; at < row.choices.size();) {
    const auto end = std::min(row.choices.find(", ", at), row.choices.size());
    if (text::same_text(row.choices.substr(at, end - at), value)) return true;
    at = end + 2;
  }
  return false;
}

// Empty if the value is right.
std::string trouble_with(const idle_row& row, std::string_view value) {
  if (row.choices == yes_or_no)
    return is_choice(row, value) ? "" : "argument must be 'yes' or 'no'";
  if (!row.choices.empty()) {
    if (is_choice(row, value)) return {};
    return "argument(s) must be one of the following: " + std::string(row.choices);
  }
  const auto number = text::parse_memory(value);
  return number && *number >= 0 ? "" : "argument couldn't be parsed into an integer";
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> idle_parameters::find(
    std::string_view pattern) const {
  std::vector<std::pair<std::string_view, std::string>> found;
  for (const auto& each : idle_table) {
    const bool is_wanted = each.is_hidden ? text::same_text(pattern, each.name)
                                          : text::matches_pattern(pattern, each.name, true);
    if (!is_wanted) continue;
    const auto value = changed_.find(each.name);
    found.emplace_back(each.name, value == changed_.end() ? each.usual : value->second);
  }
  return found;
}

bool idle_parameters::knows(std::string_view name) { return find_idle_row(name) != nullptr; }

result<void> idle_parameters::set(std::string_view name, std::string_view value) {
  const auto& row = *find_idle_row(name);
  if (const auto trouble = trouble_with(row, value); !trouble.empty()) {
    return failure(errc::invalid_argument, "set '" + std::string(name) + "'", trouble);
  }
  auto kept = row.choices.empty() ? std::to_string(*text::parse_memory(value))
                                  : text::in_small_letters(value);
  if (kept == row.usual) {
    changed_.erase(row.name);
  } else {
    changed_.insert_or_assign(row.name, std::move(kept));
  }
  return {};
}

}  // namespace strata::runtime::cache
