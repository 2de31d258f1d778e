// strata lint: checks a stack without a daemon.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/stack/rows.hpp"
#include "cli/stack/stack_source.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// The secrets that stand in the stack itself.
json warnings_of(const stack::document& document, const stack::reading& reading) {
  auto warnings = json::array();
  for (const auto& each : document.runtimes) {
    for (const auto& row : reading.rows_of(each.desired.type)) {
      const auto value = each.desired.options.find(row.key);
      const bool is_given = value != each.desired.options.end();
      if (!is_given || !options::is_plain_secret(row, *value)) continue;
      warnings.push_back({{"line", each.at.line},
                          {"column", each.at.column},
                          {"message", fmt::format("'{}' has its {} in the stack: write "
                                                  "credential:NAME, or ${{VARIABLE}}",
                                                  each.desired.name, row.key)}});
    }
  }
  return warnings;
}

}  // namespace

outcome<int> run_lint(const invocation& call) {
  const auto file = stack_file_name(call);
  const auto reading = reading_of(call, file);
  if (call.is_set("schema")) {
    print(stack::document_schema(reading).dump(2) + "\n");
    return exit_done;
  }
  const auto document = read_stack(call);
  if (!document) return std::unexpected(document.error());
  const auto warnings = warnings_of(*document, reading);
  if (call.as_json) {
    print_json({{"name", document->name},
                {"runtimes", document->runtimes.size()},
                {"warnings", warnings}});
    return exit_done;
  }
  for (const auto& each : warnings) {
    complain(fmt::format("{}:{}:{}: {}", reading.file, each["line"].get<int>(),
                         each["column"].get<int>(), each["message"].get<std::string>()));
  }
  if (!call.quiet) {
    print(fmt::format("{}: stack '{}', {} runtime{}\n", reading.file, document->name,
                      document->runtimes.size(), document->runtimes.size() == 1 ? "" : "s"));
  }
  return exit_done;
}

}  // namespace strata::cli
