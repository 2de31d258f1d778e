// strata edit NAME: by flags, or without any in an editor.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/daemon_client/cluster.hpp"
#include "cli/daemon_client/control_client.hpp"
#include "cli/line/command_line.hpp"
#include "cli/runtimes/draft.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/input_lines.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "cli/terminal/table.hpp"
#include "text/json_text.hpp"
#include "text/nearest.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// Finds an option by its key, or by its flag with or without the dashes.
outcome<std::string> key_of(const runtime::type_row& type, std::string_view option) {
  std::vector<std::string> known;
  for (const auto& row : type.rows()) {
    const auto flag = options::long_flag(row);
    if (option == row.key || option == flag || option == flag.substr(2)) {
      return std::string(row.key);
    }
    known.push_back(flag.substr(2));
  }
  return refuse(exit_misused, fmt::format("a {} has no option '{}'{}", type.name, option,
                                          text::did_you_mean(option, known)));
}

outcome<json> changes_of(const invocation& call) {
  auto changes = call.type_options;
  const auto resets = call.flags.value("reset", json::array());
  for (const auto& option : resets) {
    const auto key = key_of(*call.type, option.get_ref<const std::string&>());
    if (!key) return std::unexpected(key.error());
    if (changes.contains(*key)) {
      return refuse(exit_misused, fmt::format("'{}' is both set and reset; do only one", *key));
    }
    changes[*key] = nullptr;
  }
  return changes;
}

void report_edit(const invocation& call, const json& value) {
  const auto name = text::printable(call.words[0]);
  if (call.as_json) return print_json(value);
  if (call.quiet) return print(name + "\n");
  const auto now = value.value("applied", json::array());
  const auto later = value.value("needs_restart", json::array());
  if (!now.empty()) print(fmt::format("in force now: {}\n", format_cell(now, unit::none)));
  if (!later.empty()) {
    print(fmt::format("saved, in force from the next start ('strata restart {}'): {}\n", name,
                      format_cell(later, unit::none)));
  }
}

/// The present options, without the secret ones.
outcome<json> editable_options(const invocation& call, control_client& client) {
  const auto detail = client.get(runtime_target(call.words[0]));
  if (!detail) return std::unexpected(detail.error());
  auto options = detail->is_object() ? detail->value("options", json::object()) : json();
  if (!options.is_object()) {
    return refuse(exit_failed, "unexpected answer from the daemon: no options");
  }
  for (const auto& row : call.type->rows()) {
    if (row.kind == options::option_kind::secret) options.erase(std::string(row.key));
  }
  return options;
}

/// The changes that turn `before` into `after`: an option that was removed is reset to its default.
json differences(const invocation& call, const json& before, const json& after) {
  auto changes = json::object();
  for (const auto& [key, value] : after.items()) {
    if (before.value(key, json()) == value) continue;
    const bool is_text =
        value.is_string() || (value.is_array() && std::ranges::all_of(value, &json::is_string));
    changes[key] = value;
    if (is_text) changes.update(pick_flags({{key, value}}, call.type->rows()));
  }
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key) && !value.is_null()) changes[key] = nullptr;
  }
  return changes;
}

/// One round: the draft becomes an edit, whose answer is null if nothing differs.
outcome<json> apply_draft(const invocation& call, control_client& client, const draft& written,
                          const json& before) {
  const auto text = written.read();
  if (!text) return std::unexpected(text.error());
  const auto after = text::parse_json(*text, "read the options");
  if (!after) return refuse(exit_failed, after.error());
  if (!after->is_object()) return refuse(exit_failed, "the options must be a JSON object");
  const auto changes = differences(call, before, *after);
  if (changes.empty()) return json();
  return client.patch(runtime_target(call.words[0]), {{"options", changes}});
}

bool wants_another_round() {
  for (;;) {
    print("edit again (e) or give up (q)? ");
    const auto answer = read_typed_line();
    if (!answer || *answer == "q") return false;
    if (*answer == "e") return true;
  }
}

outcome<int> edit_in_editor(const invocation& call) {
  control_client client(call.daemon);
  const auto before = editable_options(call, client);
  if (!before) return std::unexpected(before.error());
  const auto written = draft::make(options::current_path_environment(),
                                   text::escaped_for_json(before->dump(2)) + "\n");
  if (!written) return std::unexpected(written.error());
  for (;;) {
    if (auto edited = written->edit(); !edited) return std::unexpected(edited.error());
    const auto done = apply_draft(call, client, *written, *before);
    if (done && done->is_null()) {
      if (!call.quiet && !call.as_json) print("nothing was changed\n");
      return exit_done;
    }
    if (done) {
      report_edit(call, *done);
      return exit_done;
    }
    const bool is_over =
        done.error().exit == exit_unreachable || done.error().exit == exit_not_found;
    if (is_over) return std::unexpected(done.error());
    complain(done.error().message);
    if (!wants_another_round()) return refuse(exit_failed, "nothing was changed");
  }
}

// The type that the runtime has on the daemons of a glob or a label: its options are the same on
// each of them.
outcome<std::string> type_on_daemons(const std::string& name, const daemon_address& daemon) {
  const auto cluster = read_local_cluster(daemon);
  if (!cluster) return std::unexpected(cluster.error());
  const auto selected = select_daemons(*cluster, daemon.other);
  if (!selected) return std::unexpected(selected.error());
  std::string type;
  for (const auto& each : cluster->at("daemons")) {
    if (std::ranges::find(*selected, text_at(each, "daemon")) == selected->end()) continue;
    for (const auto& runtime : each.at("runtimes")) {
      if (text_at(runtime, "name") != name) continue;
      const auto other = std::exchange(type, text_at(runtime, "type"));
      if (other.empty() || other == type) continue;
      return refuse(exit_misused, fmt::format("'{}' is a {} on one of these daemons, and a {} on "
                                              "another: name one daemon with --on",
                                              name, other, type));
    }
  }
  if (!type.empty()) return type;
  return refuse(exit_not_found,
                fmt::format("none of these daemons has a runtime '{}'", text::printable(name)));
}

outcome<std::string> read_type(const std::string& name, const daemon_address& daemon) {
  if (names_daemons(daemon.other)) return type_on_daemons(name, daemon);
  const auto detail = control_client(daemon).get(runtime_target(name));
  if (!detail) return std::unexpected(detail.error());
  return text_at(*detail, "type");
}

}  // namespace

outcome<const runtime::type_row*> type_of_runtime(const std::string& name,
                                                  const daemon_address& daemon) {
  const auto read = read_type(name, daemon);
  if (!read) return std::unexpected(read.error());
  const auto& type = *read;
  if (const auto* found = runtime::find_type(type)) return found;
  return refuse(exit_failed, fmt::format("'{}' is of type '{}', which this strata does not know; "
                                         "use the version of the daemon",
                                         name, type));
}

outcome<int> run_edit(const invocation& call) {
  const auto changes = changes_of(call);
  if (!changes) return std::unexpected(changes.error());
  if (changes->empty()) {
    if (has_screen() && ::isatty(STDIN_FILENO) == 1) return edit_in_editor(call);
    return refuse(exit_misused,
                  fmt::format("nothing to change; give flags ('strata edit {} --help' lists them), "
                              "or run it at a terminal, where it opens an editor",
                              call.words[0]));
  }
  if (auto checked = check_target(*changes); !checked) return std::unexpected(checked.error());
  json request = {{"options", *changes}};
  if (call.flags.contains("revision")) request["revision"] = call.flags.at("revision");
  const auto done = control_client(call.daemon).patch(runtime_target(call.words[0]), request);
  if (!done) return std::unexpected(done.error());
  report_edit(call, *done);
  return exit_done;
}

}  // namespace strata::cli
