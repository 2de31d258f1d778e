#include "cli/terminal/listing.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

void print_json(const json& value) { print(text::escaped_for_json(value.dump(2)) + "\n"); }

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

options::option_row no_header_row() {
  return {.key = "no_header",
          .kind = options::option_kind::flag,
          .help = "print tables without a header line"};
}

table_form form_of_object(const invocation& call) {
  return {.has_header = !call.is_set("no_header")};
}

table_form form_of_list(const invocation& call) {
  auto form = form_of_object(call);
  if (!has_screen() || !call.text("columns").empty()) return form;
  constexpr std::size_t least = 40;  // enough for most endpoints
  form.longest_cell = std::max(screen_width() / 2, least);
  return form;
}

void show_list(const invocation& call, std::span<const column> columns, const json& objects) {
  if (call.quiet) return print_names(call, objects);
  if (!call.as_json) return print(render_table(columns, objects, form_of_list(call)));
  print_json(call.text("columns").empty() ? objects : keep_columns(columns, objects));
}

std::vector<options::option_row> table_flags() {
  return {{.key = "columns",
           .kind = options::option_kind::text,
           .value_name = "A,B,C",
           .help = "show only these columns; an unknown name lists all columns"},
          no_header_row()};
}

}  // namespace strata::cli
