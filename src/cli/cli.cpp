#include "cli/cli.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/help.hpp"
#include "cli/line/command_line.hpp"
#include "cli/terminal/output.hpp"
#include "cli/verbs.hpp"
#include "options/locations.hpp"

namespace strata::cli {

namespace {

using tokens = std::vector<std::string>;
using daemon_runner = std::function<int(const options::daemon_options&)>;

bool asks_for_help(const tokens& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  return std::find_if(arguments.begin(), end, [](const std::string& token) {
           return token == "--help" || token == "-h";
         }) != end;
}

/// Looked for by hand, since a verb may have to ask the daemon which flags there are.
std::string socket_of(const tokens& arguments) {
  auto socket = options::paths_for(options::current_path_environment()).socket;
  for (auto at = arguments.begin(); at != arguments.end() && *at != "--"; ++at) {
    if (at->starts_with("--socket=")) socket = at->substr(9);
    if (*at == "--socket" && at + 1 != arguments.end()) socket = *++at;
  }
  return socket;
}

/// The type whose options the verb takes; null when it takes none, or when help was asked for and
/// the type cannot be found.
outcome<const runtime::type_row*> find_type(const verb_row& verb, const tokens& arguments,
                                            const option_rows& rows) {
  if (verb.find_type == nullptr) return nullptr;
  const auto first = find_first_word(arguments, rows);
  const bool help = asks_for_help(arguments);
  if (!first && !help) {
    return refuse(exit_misused,
                  fmt::format("{}; a type's flags stand behind {}: {}", first.error().message,
                              verb.synopsis.substr(0, verb.synopsis.find(' ')), usage_line(verb)));
  }
  if (!first || !*first) return nullptr;
  auto type = verb.find_type(arguments[**first], socket_of(arguments));
  if (!type && help) return nullptr;
  return type;
}

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

outcome<int> run_verb(const verb_row& verb, tokens arguments, const daemon_runner& run_daemon) {
  option_rows rows(verb.flags);
  rows.insert(rows.end(), common_flags().begin(), common_flags().end());
  const auto type = find_type(verb, arguments, rows);
  if (!type) return std::unexpected(type.error());
  if (asks_for_help(arguments)) {
    print(verb_help(verb, *type));
    return exit_done;
  }
  const auto own_rows = *type == nullptr ? option_rows{} : (*type)->rows();
  rows.insert(rows.end(), own_rows.begin(), own_rows.end());
  const auto socket = socket_of(arguments);
  auto line = parse_line(std::move(arguments), rows);
  if (!line) return std::unexpected(line.error());
  if (auto checked = check_words(verb, line->words); !checked) {
    return std::unexpected(checked.error());
  }
  invocation call{.words = std::move(line->words),
                  .flags = line->flags,
                  .type_options = pick_flags(line->flags, own_rows),
                  .socket = socket,
                  .run_daemon = run_daemon};
  call.as_json = call.text("format") == "json";
  call.quiet = call.is_set("quiet");
  return verb.run(call);
}

std::string take_out(tokens& arguments, std::size_t at) {
  auto word = std::move(arguments[at]);
  arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(at));
  return word;
}

/// Takes the verb's name out of the arguments: one word, or a family's and its member's.
/// Nothing when there is no word.
outcome<std::optional<std::string>> take_verb_name(tokens& arguments) {
  const auto first = find_first_word(arguments, common_flags());
  if (!first) return std::unexpected(first.error());
  if (!*first) return std::nullopt;
  auto name = take_out(arguments, **first);
  if (!is_family(name)) return name;
  const auto second = find_first_word(arguments, common_flags());
  if (!second) return std::unexpected(second.error());
  if (*second) name += ' ' + take_out(arguments, **second);
  return name;
}

outcome<int> dispatch(tokens arguments, const daemon_runner& run_daemon) {
  if (arguments == tokens{"--version"}) arguments = {"version"};
  const auto name = take_verb_name(arguments);
  if (!name) return std::unexpected(name.error());
  if (!*name && asks_for_help(arguments)) {
    print(general_help());
    return exit_done;
  }
  if (!*name) {
    return refuse(exit_misused, "say what to do: strata VERB; 'strata --help' shows the verbs");
  }
  if (is_family(**name) && asks_for_help(arguments)) {
    print(family_help(**name));
    return exit_done;
  }
  const auto verb = find_verb(**name);
  if (!verb) return std::unexpected(verb.error());
  return run_verb(**verb, std::move(arguments), run_daemon);
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
