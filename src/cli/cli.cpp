#include "cli/cli.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/daemon_client/cluster.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/help.hpp"
#include "cli/line/command_line.hpp"
#include "cli/line/foreign_verbs.hpp"
#include "cli/on_each.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/secret_flags.hpp"
#include "cli/terminal/output.hpp"
#include "cli/verbs.hpp"
#include "options/locations.hpp"

namespace strata::cli {

namespace {

using tokens = std::vector<std::string>;
using daemon_runner = std::function<int(const options::daemon_options&)>;

outcome<> check_words(const verb_row& verb, const tokens& words) {
  if (words.size() < verb.least_words) {
    return refuse(exit_misused, fmt::format("an argument is missing: {}", usage_line(verb)));
  }
  if (words.size() > verb.most_words) {
    const auto counterpart = counterpart_of_words(verb.name);
    return refuse(exit_misused, fmt::format("unexpected argument '{}': {}", words[verb.most_words],
                                            counterpart ? fmt::format("here it is {}", *counterpart)
                                                        : usage_line(verb)));
  }
  return {};
}

/// The labels of `-l` stand among the names of runtimes, behind which there may be other words.
void add_labels(parsed_line& line) {
  const auto labels = line.flags.value("label", tokens{});
  const bool ends_with_names = line.verb->synopsis.ends_with("...");
  line.words.insert(ends_with_names ? line.words.end() : line.words.begin(), labels.begin(),
                    labels.end());
}

std::string help_of(const parsed_line& line) {
  if (line.verb != nullptr) return verb_help(*line.verb, line.type);
  return line.named.empty() ? general_help() : family_help(line.named);
}

option_rows rows_of(const parsed_line& line) {
  auto rows = line.verb->flags;
  if (line.type != nullptr) {
    rows.insert(rows.end(), line.type->rows().begin(), line.type->rows().end());
  }
  return rows;
}

/// STRATA_TIMEOUT, or the default.
result<std::chrono::milliseconds> timeout_of_environment(std::chrono::milliseconds usual) {
  const char* const text = std::getenv("STRATA_TIMEOUT");
  if (text == nullptr || *text == 0) return usual;
  const auto seconds = options::parse_seconds(text);
  if (!seconds) {
    auto why = seconds.error();
    why.operation += " in STRATA_TIMEOUT";
    return std::unexpected(why);
  }
  return timeout_of(*seconds);
}

/// The daemon that the command line names. A verb's own --timeout has another meaning.
daemon_address daemon_of(const nlohmann::json& flags, const verb_row& verb, daemon_address usual) {
  usual.socket = flags.value("socket", usual.socket);
  usual.other = flags.value("on", flags.value("all", false) ? "*" : "");
  const bool has_timeout = flags.contains("timeout") && !has_own_flag(verb, "timeout");
  if (has_timeout) usual.timeout = timeout_of(flags.value("timeout", 0.0));
  return usual;
}

outcome<int> dispatch(tokens arguments, const daemon_runner& run_daemon) {
  if (arguments == tokens{"--version"}) arguments = {"version"};
  if (arguments.size() > 1 && arguments.front() == "--lua") arguments.front() = "run";
  daemon_address usual{.socket = options::paths_for(options::current_path_environment()).socket};
  const auto timeout = timeout_of_environment(usual.timeout);
  if (timeout) usual.timeout = *timeout;
  auto line = parse_line(arguments, {.verbs = verbs(),
                                     .flags = common_flags(),
                                     .usual_daemon = usual,
                                     .is_runtime = is_runtime,
                                     .verb_of_runtimes = "tell"});
  if (!line) return std::unexpected(line.error());
  if (line->wants_help) {
    print(help_of(*line));
    return exit_done;
  }
  if (!timeout) return refuse(exit_misused, timeout.error());
  if (line->flags.value("all", false) && line->flags.contains("on")) {
    return refuse(exit_misused, "--all stands for all daemons, --on for some; give only one");
  }
  if (has_label_flag(*line->verb)) add_labels(*line);
  if (auto checked = check_words(*line->verb, line->words); !checked) {
    return std::unexpected(checked.error());
  }
  if (auto known = read_secrets(line->flags, rows_of(*line)); !known) {
    return std::unexpected(known.error());
  }
  invocation call{.verb = std::string(line->verb->name),
                  .words = std::move(line->words),
                  .first_literal = line->first_literal,
                  .flags = std::move(line->flags),
                  .type = line->type,
                  .is_shortened = line->is_shortened,
                  .run_daemon = run_daemon};
  if (call.type != nullptr) call.type_options = pick_flags(call.flags, call.type->rows());
  call.daemon = daemon_of(call.flags, *line->verb, std::move(usual));
  call.as_json = call.text("format") == "json";
  call.quiet = call.is_set("quiet");
  const bool is_for_many = names_daemons(call.daemon.other) && !line->verb->serves_several_daemons;
  return is_for_many ? run_on_each(*line->verb, call) : line->verb->run(call);
}

}  // namespace

int run(int argc, char** argv, const daemon_runner& run_daemon) {
  // When a reader goes away, the write fails, and the program ends quietly there.
  std::signal(SIGPIPE, SIG_IGN);
  outcome<int> done = exit_done;
  try {
    done = dispatch(tokens(argv + std::min(argc, 1), argv + argc), run_daemon);
  } catch (const nlohmann::json::exception& surprise) {
    done =
        refuse(exit_failed, fmt::format("unexpected answer from the daemon: {}", surprise.what()));
  }
  if (done) return *done;
  complain(done.error().message);
  return done.error().exit;
}

}  // namespace strata::cli
