#include "cli/cli.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/help.hpp"
#include "cli/line/command_line.hpp"
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
    return refuse(exit_misused, fmt::format("the argument '{}' is one too many: {}",
                                            words[verb.most_words], usage_line(verb)));
  }
  return {};
}

std::string help_of(const parsed_line& line) {
  if (line.verb != nullptr) return verb_help(*line.verb, line.type);
  return line.named.empty() ? general_help() : family_help(line.named);
}

option_rows rows_of(const parsed_line& line) {
  auto rows = line.verb->flags;
  const auto add = [&](std::span<const options::option_row> more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(common_flags());
  if (line.type != nullptr) add(line.type->rows());
  return rows;
}

outcome<int> dispatch(tokens arguments, const daemon_runner& run_daemon) {
  if (arguments == tokens{"--version"}) arguments = {"version"};
  const auto usual = options::paths_for(options::current_path_environment());
  auto line = parse_line(arguments, {.verbs = verbs(),
                                     .flags = common_flags(),
                                     .usual_socket = usual.socket,
                                     .is_runtime = is_runtime,
                                     .verb_of_runtimes = "tell"});
  if (!line) return std::unexpected(line.error());
  if (line->wants_help) {
    print(help_of(*line));
    return exit_done;
  }
  if (auto checked = check_words(*line->verb, line->words); !checked) {
    return std::unexpected(checked.error());
  }
  if (auto known = read_secrets(line->flags, rows_of(*line)); !known) {
    return std::unexpected(known.error());
  }
  invocation call{.words = std::move(line->words),
                  .first_literal = line->first_literal,
                  .flags = std::move(line->flags),
                  .type = line->type,
                  .is_shortened = line->is_shortened,
                  .run_daemon = run_daemon};
  if (call.type != nullptr) call.type_options = pick_flags(call.flags, call.type->rows());
  call.socket = call.text("socket", usual.socket);
  call.as_json = call.text("format") == "json";
  call.quiet = call.is_set("quiet");
  return line->verb->run(call);
}

}  // namespace

int run(int argc, char** argv, const daemon_runner& run_daemon) {
  // A reader that goes away is seen where we write, and there ends us quietly.
  std::signal(SIGPIPE, SIG_IGN);
  outcome<int> done = exit_done;
  try {
    done = dispatch(tokens(argv + std::min(argc, 1), argv + argc), run_daemon);
  } catch (const nlohmann::json::exception& surprise) {
    done = refuse(exit_failed, fmt::format("the daemon's answer is not what the API gives: {}",
                                           surprise.what()));
  }
  if (done) return *done;
  complain(done.error().message);
  return done.error().exit;
}

}  // namespace strata::cli
