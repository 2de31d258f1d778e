#include "cli/runtimes/operation.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/daemon_client/report.hpp"
#include "cli/runtimes/answer_filter.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"

namespace strata::cli {

using nlohmann::json;
using runtime::answer_kind;

namespace {

/// A column's pointer and a verb's synopsis are views, so their texts are kept.
std::string_view kept(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

unit unit_of(answer_kind kind) {
  switch (kind) {
    case answer_kind::counts: return unit::total;
    case answer_kind::bytes: return unit::bytes;
    case answer_kind::seconds: return unit::seconds;
    default: return unit::none;
  }
}

// Of a latency, the 99th percentile is shown.
std::vector<column> answer_columns(const runtime::answer_row& row) {
  const auto pointer = "/" + std::string(row.key);
  if (row.kind == answer_kind::latency) {
    return {{"p50", kept(pointer + "/p50_ms"), unit::milliseconds, false},
            {"p99", kept(pointer + "/p99_ms"), unit::milliseconds, !row.is_hidden},
            {"max_time", kept(pointer + "/max_ms"), unit::milliseconds, false}};
  }
  return {{row.column, kept(pointer), unit_of(row.kind), !row.is_hidden}};
}

unit unit_of_field(std::string_view /*field*/, const json& /*object*/) { return unit::none; }

const runtime::operation_row& row_of(const invocation& call) {
  return *runtime::find_shared_operation(call.verb)->row;
}

/// Operations whose words behind the name suit several runtimes.
constexpr std::string_view common_to_several[] = {"signal"};

bool is_for_several(const runtime::operation_row& row) {
  const bool has_common_words =
      std::ranges::find(common_to_several, row.name) != std::ranges::end(common_to_several);
  return !row.is_list && row.body_type.empty() && (row.required == 0 || has_common_words);
}

/// Required parameters are words behind the names. Errors: misused, for one that cannot be parsed.
outcome<json> parameters_of(const invocation& call, const runtime::operation_row& row) {
  auto parameters = json::object();
  const auto first = is_for_several(row) ? call.words.size() - row.required : 1;
  for (std::size_t at = 0; at < row.parameters.size(); ++at) {
    const auto& each = row.parameters[at];
    const std::string key(each.key);
    if (at < row.required) {
      auto value = options::parse_option(each, call.words[first + at]);
      if (!value) return refuse(exit_misused, describe(value.error()));
      parameters[key] = std::move(*value);
    } else if (call.flags.contains(key)) {
      parameters[key] = call.flags[key];
    }
  }
  return parameters;
}

/// Sorts by one column: numbers from the largest, everything else alphabetically.
void sort_by(const column& column, json& objects) {
  const json::json_pointer pointer{std::string(column.pointer)};
  const auto value_of = [&pointer](const json& object) {
    return object.contains(pointer) ? object.at(pointer) : json();
  };
  std::stable_sort(objects.begin(), objects.end(), [&](const json& object, const json& next) {
    const auto value = value_of(object);
    const auto other = value_of(next);
    return value.is_number() && other.is_number() ? value > other : value < other;
  });
}

/// An operation that answers with a list, of one runtime.
outcome<int> show_answers(const invocation& call, const runtime::operation_row& row) {
  const auto shown = select_columns(columns_of(row.name), call.text("columns"));
  if (!shown) return std::unexpected(shown.error());
  const auto order = select_columns(columns_of(row.name), call.text("sort"));
  if (!order) return std::unexpected(order.error());
  const auto filter =
      answer_filter::parse(call.flags.value("filter", json::array()), columns_of(row.name));
  if (!filter) return std::unexpected(filter.error());
  const auto parameters = parameters_of(call, row);
  if (!parameters) return std::unexpected(parameters.error());
  control_client client(call.daemon);
  auto answer = client.ask(call.words[0], row.name, {}, *parameters);
  if (!answer) return std::unexpected(answer.error());
  if (!answer->is_array())
    return refuse(exit_failed, "unexpected answer from the daemon: not a list");
  std::erase_if(answer->get_ref<json::array_t&>(),
                [&](const json& object) { return !filter->takes(object); });
  if (!call.text("sort").empty()) sort_by(order->front(), *answer);
  show_list(call, *shown, *answer);
  return exit_done;
}

std::string synopsis_of(const runtime::operation_row& row) {
  std::string synopsis = is_for_several(row) ? "NAME|GLOB|@GROUP..." : "NAME";
  for (const auto& each : std::span(row.parameters).first(row.required)) {
    synopsis += " " + std::string(each.value_name);
  }
  return row.body_type.empty() ? synopsis : synopsis + " [BODY]";
}

option_rows list_flags() {
  auto flags = table_flags();
  flags.push_back({.key = "sort",
                   .kind = options::option_kind::text,
                   .value_name = "COLUMN",
                   .help = "sort by this column; numbers in descending order"});
  flags.push_back(
      {.key = "filter",
       .kind = options::option_kind::list,
       .value_name = "FIELD=VALUE",
       .help = "show only rows whose column FIELD has this value; repeatable: all must match"});
  return flags;
}

outcome<int> run_operation(const invocation& call) {
  const auto& row = row_of(call);
  if (row.is_list) return show_answers(call, row);
  const auto parameters = parameters_of(call, row);
  if (!parameters) return std::unexpected(parameters.error());
  auto daemon = call.daemon;
  const bool has_usual_limit = daemon.timeout == daemon_address().timeout;
  if (row.is_lengthy && has_usual_limit) daemon.timeout = {};
  control_client client(daemon);
  const std::vector names(call.words.begin(),
                          is_for_several(row)
                              ? call.words.end() - static_cast<std::ptrdiff_t>(row.required)
                              : call.words.begin() + 1);
  const auto behind = row.required + 1;
  const auto body =
      call.words.size() > behind && !is_for_several(row) ? call.words[behind] : std::string();
  auto all = for_each_name(client, names, [&](const std::string& name) {
    auto answer = client.ask(name, row.name, body, *parameters);
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
  const auto words = row.required + (row.body_type.empty() ? 1 : 2);
  verb_row verb{.name = row.name,
                .synopsis = kept(synopsis_of(row)),
                .group = row.needed == runtime::role::read ? verb_group::look : verb_group::talk,
                .summary = row.summary,
                .least_words = row.required + 1,
                .most_words = is_for_several(row) ? any_number : words,
                .run = run_operation,
                .flags = {row.parameters.begin() + static_cast<std::ptrdiff_t>(row.required),
                          row.parameters.end()}};
  if (row.is_list) std::ranges::move(list_flags(), std::back_inserter(verb.flags));
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
