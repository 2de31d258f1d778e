#include "cli/runtimes/operation.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/daemon_client/report.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"

namespace strata::cli {

using nlohmann::json;
using runtime::answer_kind;

namespace {

/// A column's pointer is a view.
std::string_view kept(std::string pointer) {
  static std::deque<std::string> pointers;
  return pointers.emplace_back(std::move(pointer));
}

// Of a latency the 99th percentile is what people look at.
std::vector<column> answer_columns(const runtime::answer_row& row) {
  const auto pointer = "/" + std::string(row.key);
  if (row.kind == answer_kind::latency) {
    return {{"p50", kept(pointer + "/p50_ms"), unit::milliseconds, false},
            {"p99", kept(pointer + "/p99_ms"), unit::milliseconds, !row.is_hidden},
            {"max_time", kept(pointer + "/max_ms"), unit::milliseconds, false}};
  }
  const auto shown = row.kind == answer_kind::counts ? unit::total : unit::none;
  return {{row.column, kept(pointer), shown, !row.is_hidden}};
}

unit unit_of_field(std::string_view /*field*/, const json& /*object*/) { return unit::none; }

const runtime::operation_row& row_of(const invocation& call) {
  return *runtime::find_shared_operation(call.verb)->row;
}

json parameters_of(const invocation& call, const runtime::operation_row& row) {
  auto parameters = json::object();
  for (const auto& each : row.parameters) {
    const std::string key(each.key);
    if (call.flags.contains(key)) parameters[key] = call.flags[key];
  }
  return parameters;
}

/// One that answers with a list: of one runtime.
outcome<int> show_answers(const invocation& call, const runtime::operation_row& row) {
  const auto shown = select_columns(columns_of(row.name), call.text("columns"));
  if (!shown) return std::unexpected(shown.error());
  control_client client(call.daemon);
  const auto answer = client.ask(call.words[0], row.name, {}, parameters_of(call, row));
  if (!answer) return std::unexpected(answer.error());
  if (!answer->is_array()) return refuse(exit_failed, "the daemon's answer is no list");
  show_list(call, *shown, *answer);
  return exit_done;
}

outcome<int> run_operation(const invocation& call) {
  const auto& row = row_of(call);
  if (row.is_list) return show_answers(call, row);
  const bool takes_body = !row.body_type.empty();
  control_client client(call.daemon);
  const auto names = takes_body ? std::vector{call.words[0]} : call.words;
  const std::string body = takes_body && call.words.size() > 1 ? call.words[1] : std::string();
  auto all = for_each_name(client, names, [&](const std::string& name) {
    auto answer = client.ask(name, row.name, body, parameters_of(call, row));
    if (!answer || call.as_json) return answer;
    if (row.answer.empty()) {
      report_state(call, *answer);
    } else {
      print(render_object(*answer, unit_of_field, form_of_object(call)));
    }
    return answer;
  });
  if (!all) return std::unexpected(all.error());
  if (call.as_json) print_json(all->answers);
  return all->exit;
}

verb_row verb_of(const runtime::operation_row& row) {
  const bool takes_body = !row.body_type.empty();
  const bool is_for_several = !row.is_list && !takes_body;
  verb_row verb{.name = row.name,
                .synopsis = is_for_several ? "NAME|GLOB|@GROUP..."
                            : takes_body   ? "NAME [BODY]"
                                           : "NAME",
                .group = row.needed == runtime::role::read ? verb_group::look : verb_group::talk,
                .summary = row.summary,
                .least_words = 1,
                .most_words = is_for_several ? any_number
                              : takes_body   ? std::size_t{2}
                                             : std::size_t{1},
                .run = run_operation,
                .flags = row.parameters};
  if (row.is_list) std::ranges::move(table_flags(), std::back_inserter(verb.flags));
  return verb;
}

}  // namespace

const std::vector<column>& columns_of(std::string_view operation) {
  static const auto all = [] {
    std::map<std::string_view, std::vector<column>> columns;
    for (const auto& each : runtime::all_operations()) {
      auto& of_one = columns[each.row->name];
      for (const auto& row : each.row->answer) {
        if (!row.column.empty()) std::ranges::move(answer_columns(row), std::back_inserter(of_one));
      }
    }
    return columns;
  }();
  return all.at(operation);
}

std::vector<verb_row> operation_verbs() {
  std::vector<verb_row> verbs;
  for (const auto& each : runtime::all_operations()) {
    if (each.row->verb.empty()) verbs.push_back(verb_of(*each.row));
  }
  return verbs;
}

}  // namespace strata::cli
