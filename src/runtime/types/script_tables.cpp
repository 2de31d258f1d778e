#include "runtime/types/script_tables.hpp"

#include <fmt/format.h>

#include "runtime/cache/scripting/cache_script.hpp"
#include "runtime/client/connection_script.hpp"
#include "runtime/proxy/script/gate_script.hpp"
#include "runtime/scripting/callbacks.hpp"
#include "runtime/scripting/library.hpp"
#include "runtime/scripting/outside.hpp"
#include "runtime/scripting/service_functions.hpp"
#include "runtime/server/script/client_functions.hpp"

namespace strata::runtime {

namespace {

constexpr std::string_view other_names[] = {"router", "json.null"};

// A cell of a Markdown table: a bar would end it.
std::string cell(std::string_view text) {
  std::string made;
  for (const char letter : text) {
    if (letter == '|') made += '\\';
    made += letter;
  }
  return made;
}

void add_rows(std::string& text, std::string_view called_by,
              std::span<const script::function_row> functions) {
  text += "| function | gives | |\n|---|---|---|\n";
  for (const auto& row : functions) {
    text += fmt::format("| `{}{}({})` | {} | {}{} |\n", called_by, row.name, cell(row.parameters),
                        row.returns.empty() ? "" : "`" + cell(row.returns) + "`", cell(row.help),
                        row.wait != nullptr ? "; waits" : "");
  }
}

// Wraps a comment into lines that fit a page.
std::string comment(std::string_view text) {
  constexpr std::size_t most = 90;
  std::string lines;
  while (text.size() > most) {
    const auto end = text.rfind(' ', most);
    lines += fmt::format("---{}\n", text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines + fmt::format("---{}\n", text);
}

// Declares a function for editors.
std::string declared(std::string_view name, std::string_view parameters, std::string_view returns,
                     std::string_view help) {
  auto text = comment(help);
  std::string names;
  for (const auto& each : script::parse_parameters(parameters)) {
    names += (names.empty() ? "" : ", ") + std::string(each.name);
    text += fmt::format("---@param {}{} {}\n", each.name, each.is_optional ? "?" : "", each.type);
  }
  if (!returns.empty()) text += fmt::format("---@return {}\n", returns);
  return text + fmt::format("function {}({}) end\n\n", name, names);
}

// Whether it is one of the many commands of a cache, for which one line suffices.
bool is_short(const script::function_row& row) { return row.parameters.starts_with("..."); }

std::string field_of(const script::function_row& row) {
  return fmt::format("---@field {} fun({}): {} {}\n", row.name, row.parameters, row.returns,
                     row.help);
}

// Declared as fields of a class, because a script defines them itself.
std::string declared_callbacks() {
  std::string text;
  for (const auto& row : scripting::callback_rows()) {
    text += fmt::format("---@field {}? fun({}){}\n", row.name, row.parameters,
                        row.returns.empty() ? "" : ": " + std::string(row.returns));
  }
  return text;
}

// Methods with their colon, for editors.
std::string declared_kind(const script::object_kind& kind) {
  auto text = fmt::format("---{}\n---@class strata.{}\n", kind.help, kind.name);
  if (!kind.others.empty()) text += fmt::format("---@field [string] {}\n", kind.others);
  text += fmt::format("local {} = {{}}\n\n", kind.name);
  for (const auto& row : kind.methods) {
    text +=
        declared(fmt::format("{}:{}", kind.name, row.name), row.parameters, row.returns, row.help);
  }
  return text;
}

constexpr std::string_view annotations_head =
    R"(---@meta strata
-- What scripts of strata see, for lua-language-server. Made from the program's own tables.

---@class strata.request
---@field method string
---@field path string decoded
---@field target string as sent
---@field query table<string, string>
---@field headers table<string, string> names in lower case
---@field body string
---@field version integer 11 is HTTP/1.1
---@field peer string
---@field is_secure boolean
---@field params? table<string, string> set by a router

---@class strata.change
---@field op "write"|"delete"|"expire"|"clear"
---@field key? string
---@field database integer
---@field type? string as TYPE says it
---@field value? string of a string
---@field ttl? number seconds
---@field command? string[] that has changed another value than a string

---@class strata.script what a script may set: numbers of its own, and the functions that are called
---@field tick_ms? number on_tick is called that often
---@field miss_ms? number how long clients wait for on_miss
---@field flush_ms? number the least between two batches of on_flush
---@field flush_max? number changes in a batch
---@field flush_backlog? number changes that wait before clients' are refused
@CALLBACKS@

---@alias strata.route fun(request: strata.request, params: table<string, string>): any
---@class strata.router
---@field answer fun(self: strata.router, request: strata.request): any
---@field on fun(self: strata.router, method: string, path: string, handle: strata.route): any
---@field get fun(self: strata.router, path: string, handle: strata.route): strata.router
---@field post fun(self: strata.router, path: string, handle: strata.route): strata.router
---@field put fun(self: strata.router, path: string, handle: strata.route): strata.router
---@field patch fun(self: strata.router, path: string, handle: strata.route): strata.router
---@field delete fun(self: strata.router, path: string, handle: strata.route): strata.router

strata = {json = {null = nil}, base64 = {}, url = {}, shared = {}}

---routes requests by method and path: '/users/:name', '/files/*'
---@return strata.router
function strata.router() end

)";

}  // namespace

std::span<const script_table> script_tables() {
  static const script_table tables[] = {{"server", server::script_functions()},
                                        {"client", client::script_functions()},
                                        {"proxy", proxy::script_functions()},
                                        {"cache", cache::script_functions()}};
  return tables;
}

std::span<const script::function_row> common_script_functions() {
  return scripting::common_functions();
}

std::span<const scripting::own_value> own_script_values() { return scripting::own_values(); }
std::span<const script::function_row> own_script_functions() { return scripting::own_functions(); }

std::span<const script::object_kind* const> script_objects() { return scripting::outside_kinds(); }

std::span<const std::string_view> other_common_names() { return other_names; }

std::vector<script::callback_row> script_callbacks(std::string_view type) {
  std::vector<script::callback_row> called;
  const auto rows = scripting::callback_rows();
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (scripting::is_called_by(at, type)) called.push_back(rows[at]);
  }
  return called;
}

std::string script_reference() {
  std::string text =
      "# What scripts see\n\n"
      "Made from the program's own tables; [lua.md](lua.md) says how to use them.\n\n"
      "## Functions that are called\n\n| function | gives | in | when |\n|---|---|---|---|\n";
  const auto rows = scripting::callback_rows();
  for (std::size_t at = 0; at < rows.size(); ++at) {
    text += fmt::format("| `{}({})` | {} | {} | {} |\n", rows[at].name, cell(rows[at].parameters),
                        rows[at].returns.empty() ? "" : "`" + cell(rows[at].returns) + "`",
                        cell(scripting::callers_of(at)), cell(rows[at].help));
  }
  text += "\n## strata\n\nIn every script.\n\n";
  add_rows(text, "strata.", common_script_functions());
  text +=
      "\n`strata.json.null` stands for JSON's null within tables; `strata.router()` makes a "
      "router.\n";
  for (const auto* const each : script_objects()) {
    text += fmt::format("\n## {}\n\n{}.\n\n", each->name, each->help);
    add_rows(text, fmt::format("{}:", each->name), each->methods);
  }
  text += "\n## self, in every runtime\n\n| value | is | |\n|---|---|---|\n";
  for (const auto& each : own_script_values()) {
    text += fmt::format("| `self.{}` | `{}` | {} |\n", each.name, each.type, cell(each.help));
  }
  text += "\n";
  add_rows(text, "self.", own_script_functions());
  for (const auto& table : script_tables()) {
    text += fmt::format("\n## self, in a {}\n\nAlso known as `{}`.\n\n", table.type, table.type);
    add_rows(text, "self.", table.functions);
  }
  return text;
}

std::string script_annotations() {
  std::string text(annotations_head);
  constexpr std::string_view place = "@CALLBACKS@\n";
  text.replace(text.find(place), place.size(), declared_callbacks());
  for (const auto* const each : script_objects()) text += declared_kind(*each);
  for (const auto& row : common_script_functions()) {
    text += declared(fmt::format("strata.{}", row.name), row.parameters, row.returns, row.help);
  }
  for (const auto& table : script_tables()) {
    text += fmt::format("---@class strata.{}\n", table.type);
    for (const auto& each : own_script_values()) {
      text += fmt::format("---@field {} {} {}\n", each.name, each.type, each.help);
    }
    for (const auto& row : table.functions) {
      if (is_short(row)) text += field_of(row);
    }
    text += fmt::format("{} = {{}}\n\n", table.type);
    for (const auto rows : {own_script_functions(), table.functions}) {
      for (const auto& row : rows) {
        if (is_short(row)) continue;
        text += declared(fmt::format("{}.{}", table.type, row.name), row.parameters, row.returns,
                         row.help);
      }
    }
  }
  text +=
      "---the runtime's own table\n---@type "
      "strata.server|strata.client|strata.proxy|strata.cache\nself = nil\n";
  return text;
}

}  // namespace strata::runtime
