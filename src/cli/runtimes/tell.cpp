// strata tell NAME [WORD...], and strata NAME [WORD...]
#include <fmt/format.h>
#include <unistd.h>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/report.hpp"
#include "cli/prompt/commands.hpp"
#include "cli/prompt/dialogue.hpp"
#include "cli/prompt/prompt.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "cli/terminal/table.hpp"
#include "options/credentials.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

bool is_typed() { return ::isatty(STDIN_FILENO) == 1; }

/// A bare name at a terminal: shows what the runtime is, and what can be done with it.
outcome<int> introduce(const invocation& call, const json& detail) {
  if (call.as_json) {
    print_json(detail);
    return exit_done;
  }
  report_state(call, detail);
  if (call.quiet) return exit_done;
  const auto name = text::printable(call.words[0]);
  const auto type = text::printable(text_at(detail, "type"));
  const bool is_cache = type == "cache";
  if (text_at(detail, "state") != "running") {
    print(fmt::format("  strata start {:<16} start this {}\n", name, type));
  } else if (is_cache) {
    print(fmt::format("  strata {} COMMAND...\n  strata start -i {:<13} a prompt for commands\n",
                      name, name));
  } else {
    print(
        fmt::format("  strata {} MESSAGE...\n  strata start -i {:<13} send and receive messages\n",
                    name, name));
  }
  print(
      fmt::format("  strata show {0:<17} all its options\n"
                  "  strata stats {0:<16} its counters and rates\n"
                  "  strata logs {0:<17} its log\n",
                  name));
  return exit_done;
}

outcome<int> tell_cache(const invocation& call, const json& detail) {
  const auto endpoint = endpoint_of_cache(detail, call.daemon);
  if (!endpoint) return std::unexpected(endpoint.error());
  const auto password = options::secret_of(call.text("password", password_of_environment()));
  if (!password) return refuse(exit_failed, password.error());
  const cache_access access{.endpoint = *endpoint, .password = *password};
  if (call.words.size() > 1) {
    return run_cache_command(call, access, {call.words.begin() + 1, call.words.end()});
  }
  const bool has_prompt = is_typed() && has_screen() && !call.as_json;
  if (has_prompt) return run_cache_prompt(call, call.words[0], access.endpoint, access.password);
  return run_cache_lines(call, access);
}

/// Sends the words as one message.
outcome<int> tell_others(invocation call) {
  if (call.flags.contains("password")) {
    return refuse(exit_misused, fmt::format("--password is for caches, but '{}' is not a cache; "
                                            "leave it out",
                                            call.words[0]));
  }
  if (call.words.size() > 2) {
    const auto message =
        fmt::format("{}", fmt::join(call.words.begin() + 1, call.words.end(), " "));
    call.words = {call.words[0], message};
  }
  return run_send(call);
}

}  // namespace

bool is_runtime(const std::string& name, const daemon_address& daemon) {
  // The word may be a mistyped verb: that must be reported soon, even if the daemon is stuck.
  constexpr std::chrono::milliseconds longest(2000);
  auto hurried = daemon;
  const bool is_endless = daemon.timeout == std::chrono::milliseconds::zero();
  if (is_endless || daemon.timeout > longest) hurried.timeout = longest;
  return control_client(hurried).get(runtime_target(name)).has_value();
}

outcome<std::string> endpoint_of_cache(const json& detail, const daemon_address& daemon) {
  const auto name = text::printable(text_at(detail, "name"));
  if (text_at(detail, "state") != "running") {
    return refuse(exit_failed,
                  fmt::format("'{0}' is not running; 'strata start {0}' starts it", name));
  }
  if (daemon.is_remote()) {
    return refuse(exit_failed, fmt::format("'{}' runs on another machine, which this command "
                                           "cannot reach; use redis-cli with that machine's name",
                                           name));
  }
  for (const auto& each : detail.value("endpoints", json::array())) {
    if (!each.is_string()) continue;
    auto endpoint = each.get<std::string>();
    if (endpoint.starts_with("tcp://") || endpoint.starts_with("unix://")) return endpoint;
  }
  return refuse(exit_failed, fmt::format("'{}' listens with TLS only; add --listen unix:///PATH to "
                                         "it, or use 'redis-cli --tls'",
                                         name));
}

outcome<int> run_tell(const invocation& call) {
  const auto detail = control_client(call.daemon).get(runtime_target(call.words[0]));
  if (!detail) return std::unexpected(detail.error());
  const bool has_words = call.words.size() > 1;
  if (call.is_shortened && !has_words && is_typed()) return introduce(call, *detail);
  return text_at(*detail, "type") == "cache" ? tell_cache(call, *detail) : tell_others(call);
}

}  // namespace strata::cli
