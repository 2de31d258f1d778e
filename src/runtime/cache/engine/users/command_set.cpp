#include "runtime/cache/engine/users/command_set.hpp"

#include <array>
#include <cassert>

#include "runtime/cache/engine/command.hpp"
#include "runtime/cache/engine/command_info.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::array<std::string_view, 21> category_names = {
    "keyspace", "read",   "write",       "set",       "sortedset",  "list",        "hash",
    "string",   "bitmap", "hyperloglog", "geo",       "stream",     "pubsub",      "admin",
    "fast",     "slow",   "blocking",    "dangerous", "connection", "transaction", "scripting"};

using category_table = std::array<command_set, category_names.size()>;

category_table read_categories() {
  category_table sets;
  for (const auto& command : all_commands()) {
    for (std::size_t i = 0; i < category_names.size(); ++i) {
      if (has_category(command, category_names[i])) sets[i].set(command.index);
    }
  }
  return sets;
}

}  // namespace

const command_set& every_command() {
  static const auto all = [] {
    assert(all_commands().size() <= command_set().size());
    command_set commands;
    for (const auto& command : all_commands()) commands.set(command.index);
    return commands;
  }();
  return all;
}

std::span<const std::string_view> acl_categories() { return category_names; }

const command_set* find_category(std::string_view name) {
  static const auto table = read_categories();
  for (std::size_t i = 0; i < category_names.size(); ++i) {
    if (text::same_text(category_names[i], name)) return &table[i];
  }
  return nullptr;
}

}  // namespace strata::runtime::cache
