// strata lua check: reports mistakes in scripts, in the format of compilers.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/lua/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "runtime/types/script_tables.hpp"
#include "script/checker.hpp"
#include "script/source.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

void add_names(std::vector<std::string>& to, std::span<const script::function_row> rows) {
  for (const auto& row : rows) to.emplace_back(row.name);
}

script::known_names known_to(const std::string& type) {
  script::known_names known;
  script::known_table common{"strata", {}};
  add_names(common.members, runtime::common_script_functions());
  for (const auto each : runtime::other_common_names()) common.members.emplace_back(each);
  script::known_table self{"self", {}};
  for (const auto& table : runtime::script_tables()) {
    if (!type.empty() && table.type != type) continue;
    script::known_table own{std::string(table.type), {}};
    for (const auto& each : runtime::own_script_values()) own.members.emplace_back(each.name);
    add_names(own.members, runtime::own_script_functions());
    add_names(own.members, table.functions);
    self.members.insert(self.members.end(), own.members.begin(), own.members.end());
    known.tables.push_back(std::move(own));
    for (const auto& each : runtime::script_callbacks(table.type)) {
      known.callbacks.emplace_back(each.name);
    }
  }
  known.tables.push_back(std::move(common));
  known.tables.push_back(std::move(self));
  return known;
}

}  // namespace

// Exits with 1 if there is a mistake.
outcome<int> run_lua_check(const invocation& call) {
  const auto known = known_to(call.text("type"));
  auto shown = json::array();
  for (const auto& file : call.words) {
    const auto text = script::read_source(file);
    if (!text) return refuse(exit_failed, text.error());
    for (const auto& each : script::check_source(*text, file, known)) {
      shown.push_back({{"file", file}, {"line", each.line}, {"what", each.what}});
      if (!call.as_json) print(fmt::format("{}:{}: {}\n", file, each.line, each.what));
    }
  }
  if (call.as_json) print_json(shown);
  return shown.empty() ? exit_done : exit_failed;
}

outcome<int> run_lua_annotations(const invocation& /*call*/) {
  print(runtime::script_annotations());
  return exit_done;
}

}  // namespace strata::cli
