// strata edit NAME...: by flags, or without any in an editor.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/daemon_client/cluster.hpp"
#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/daemon_client/report.hpp"
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

void report_edit(const invocation& call, const std::string& runtime, const json& value) {
  const auto name = text::printable(runtime);
  if (call.as_json) return;
  if (call.quiet) return print(name + "\n");
  const auto subject = names_one(call) ? std::string() : name + ": ";
  const auto now = value.value("applied", json::array());
  const auto later = value.value("needs_restart", json::array());
  if (!now.empty()) {
    print(fmt::format("{}in force now: {}\n", subject, format_cell(now, unit::none)));
  }
  if (!later.empty()) {
    print(fmt::format("{}saved, in force from the next start ('strata restart {}'): {}\n", subject,
                      name, format_cell(later, unit::none)));
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
      if (call.as_json) print_json(*done);
      report_edit(call, call.words[0], *done);
      return exit_done;
    }
    const bool is_over =
        done.error().exit == exit_unreachable || done.error().exit == exit_not_found;
    if (is_over) return std::unexpected(done.error());
    complain(done.error().message);
    if (!wants_another_round()) return refuse(exit_failed, "nothing was changed");
  }
}

/// The runtimes of the daemons of a glob or a label.
outcome<json> runtimes_on_daemons(const daemon_address& daemon) {
  const auto cluster = read_local_cluster(daemon);
  if (!cluster) return std::unexpected(cluster.error());
  const auto selected = select_daemons(*cluster, daemon.other);
  if (!selected) return std::unexpected(selected.error());
  auto all = json::array();
  for (const auto& each : cluster->at("daemons")) {
    if (std::ranges::find(*selected, text_at(each, "daemon")) == selected->end()) continue;
    for (const auto& runtime : each.at("runtimes")) all.push_back(runtime);
  }
  return all;
}

/// The type of all runtimes that the word names, on all daemons.
outcome<std::string> type_of_all(const std::string& word, const daemon_address& daemon) {
  const bool has_many_daemons = names_daemons(daemon.other);
  const auto all =
      has_many_daemons ? runtimes_on_daemons(daemon) : control_client(daemon).get("/v1/runtimes");
  if (!all) return std::unexpected(all.error());
  const auto named = expand(std::span(&word, 1), known_runtimes(*all));
  if (!named.failures.empty()) return std::unexpected(named.failures.front());
  std::string type;
  for (const auto& each : *all) {
    if (std::ranges::find(named.names, text_at(each, "name")) == named.names.end()) continue;
    const auto other = std::exchange(type, text_at(each, "type"));
    if (other.empty() || other == type) continue;
    return refuse(exit_misused,
                  fmt::format("'{}' is a {} and a {}{}: edit runtimes of one type at a time",
                              text::printable(word), other, type,
                              has_many_daemons ? ", on different daemons" : ""));
  }
  if (!type.empty()) return type;
  return refuse(exit_not_found,
                fmt::format("none of these daemons has a runtime '{}'", text::printable(word)));
}

outcome<std::string> read_type(const std::string& word, const daemon_address& daemon) {
  if (names_several(word) || names_daemons(daemon.other)) return type_of_all(word, daemon);
  const auto detail = control_client(daemon).get(runtime_target(word));
  if (!detail) return std::unexpected(detail.error());
  return text_at(*detail, "type");
}

outcome<> check_edit(const invocation& call, const json& changes) {
  if (changes.empty()) {
    return refuse(exit_misused,
                  fmt::format("nothing to change; give flags ('strata edit {} --help' lists them), "
                              "or run it at a terminal with the name of one runtime, whose options "
                              "it opens in an editor",
                              call.words[0]));
  }
  if (call.flags.contains("revision") && !names_one(call)) {
    return refuse(exit_misused,
                  "--revision is that of one runtime; name one, or leave the flag out");
  }
  return check_target(changes);
}

}  // namespace

outcome<const runtime::type_row*> type_of_runtime(const std::string& word,
                                                  const daemon_address& daemon) {
  const auto read = read_type(word, daemon);
  if (!read) return std::unexpected(read.error());
  const auto& type = *read;
  if (const auto* found = runtime::find_type(type)) return found;
  return refuse(exit_failed, fmt::format("'{}' is of type '{}', which this strata does not know; "
                                         "use the version of the daemon",
                                         word, type));
}

outcome<int> run_edit(const invocation& call) {
  const auto changes = changes_of(call);
  if (!changes) return std::unexpected(changes.error());
  const bool has_terminal = has_screen() && ::isatty(STDIN_FILENO) == 1;
  if (changes->empty() && names_one(call) && has_terminal) return edit_in_editor(call);
  if (auto checked = check_edit(call, *changes); !checked) return std::unexpected(checked.error());
  json request = {{"options", *changes}};
  if (call.flags.contains("revision")) request["revision"] = call.flags.at("revision");
  control_client client(call.daemon);
  auto all = for_each_name(client, call.words, [&](const std::string& name) -> outcome<json> {
    auto done = client.patch(runtime_target(name), request);
    if (done) report_edit(call, name, *done);
    if (names_one(call)) return done;
    if (!done) return refuse(done.error().exit, fmt::format("{}: {}", name, done.error().message));
    (*done)["name"] = name;
    return done;
  });
  if (!all) return std::unexpected(all.error());
  if (!call.as_json) return all->exit;
  if (!names_one(call)) {
    print_json(all->answers);
  } else if (!all->answers.empty()) {
    print_json(all->answers.front());
  }
  return all->exit;
}

}  // namespace strata::cli
