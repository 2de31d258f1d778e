// CONFIG: the parameters in parameters.cpp.
#include <fmt/format.h>

#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

void config_get(call& c) {
  std::vector<std::pair<std::string_view, std::string>> found;
  for (const auto& pattern : c.words.subspan(2)) {
    for (auto& each : c.home().settings().find(pattern)) {
      const bool known =
          std::ranges::any_of(found, [&](const auto& other) { return other.first == each.first; });
      if (!known) found.push_back(std::move(each));
    }
  }
  c.reply.map(found.size());
  for (const auto& [name, value] : found) {
    c.reply.bulk(name);
    c.reply.bulk(value);
  }
}

// Sets all parameters or none.
void config_set(call& c) {
  if (c.size() % 2 != 0) {
    c.fail_syntax();
    return;
  }
  auto next = c.home().settings();
  for (std::size_t i = 2; i < c.size(); i += 2) {
    for (std::size_t before = 2; before < i; before += 2) {
      if (!text::same_text(c[before], c[i])) continue;
      c.fail(
          fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - duplicate "
                      "parameter",
                      c[i]));
      return;
    }
    if (auto set = next.set(c[i], c[i + 1]); !set) {
      c.fail("ERR " + set.error().reason);
      return;
    }
  }
  c.home().configure(std::move(next));
  if (c.home().settings().maxmemory > 0) c.make_room();
  c.reply.ok();
}

void config_resetstat(call& c) {
  c.home().statistics().reset();
  c.reply.ok();
}

// Options are stored in the daemon's record as soon as they are set; the other parameters now, as
// the option `config`.
void config_rewrite(call& c) {
  const auto& trouble = c.home().settings().record_trouble;
  if (!trouble.empty()) {
    c.fail("ERR Rewriting config file: " + trouble);
    return;
  }
  if (c.home().users_file() == nullptr) {
    if (const auto kept = c.home().keep_users(); !kept) {
      c.fail("ERR Rewriting config file: " + kept.error().reason);
      return;
    }
  }
  auto next = c.home().settings();
  next.options.config = next.changed_settings();
  if (next.options.config != c.home().settings().options.config)
    c.home().configure(std::move(next));
  c.reply.ok();
}

void config_help(call& c) {
  constexpr std::array<std::string_view, 5> lines = {
      "CONFIG <subcommand>. Subcommands are:",
      "GET <pattern> -- returns the matching parameters and their values.",
      "SET <parameter> <value> ... -- sets parameters, all or none.",
      "RESETSTAT -- sets all counters to zero.", "REWRITE -- saves parameters permanently."};
  c.reply_lines(lines);
}

// clang-format off
const command_row config_rows[] = {
    {"get", -3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.0.0",
     "returns the values of parameters", config_get},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "5.0.0",
     "lists the subcommands of CONFIG", config_help},
    {"resetstat", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.0.0",
     "sets all counters to zero", config_resetstat},
    {"rewrite", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.8.0",
     "saves parameters permanently", config_rewrite},
    {"set", -4, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.0.0",
     "sets parameters", config_set},
};

const command_row config_group_rows[] = {
    {"config", -2, "", {0, 0, 0},
     "", "", "2.0.0",
     "reads and sets parameters", nullptr, config_rows},
};
// clang-format on

}  // namespace

command_group config_commands() { return {"server", config_group_rows}; }

}  // namespace strata::runtime::cache
