#include "cli/terminal/listing.hpp"

#include <nlohmann/json.hpp>

#include "cli/terminal/output.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

void print_json(const json& value) { print(value.dump(2) + "\n"); }

void print_names(const invocation& call, const json& objects) {
  auto names = json::array();
  std::string lines;
  for (const auto& object : objects) {
    names.push_back(text_at(object, "name"));
    lines += text::printable(text_at(object, "name")) + "\n";
  }
  if (call.as_json) return print_json(names);
  print(lines);
}

void show_list(const invocation& call, std::span<const column> columns, const json& objects) {
  if (call.quiet) return print_names(call, objects);
  if (!call.as_json) return print(render_table(columns, objects));
  print_json(call.text("columns").empty() ? objects : keep_columns(columns, objects));
}

}  // namespace strata::cli
