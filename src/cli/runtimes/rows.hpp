// The verbs of this folder: their rows for the table, and their handlers, each in the file named
// after it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_create(const invocation& call);
outcome<int> run_add(const invocation& call);
outcome<int> run_attach(const invocation& call);
outcome<int> run_exec(const invocation& call);
outcome<int> run_edit(const invocation& call);
outcome<int> run_start(const invocation& call);
outcome<int> run_stop(const invocation& call);
outcome<int> run_restart(const invocation& call);
outcome<int> run_reload(const invocation& call);
outcome<int> run_reload_lua(const invocation& call);
outcome<int> run_remove(const invocation& call);
outcome<int> run_interactive(const invocation& call);
outcome<int> run_send(const invocation& call);
outcome<int> run_tell(const invocation& call);
outcome<int> run_ls(const invocation& call);
outcome<int> run_ps(const invocation& call);
outcome<int> run_show(const invocation& call);
outcome<int> run_owner(const invocation& call);
outcome<int> run_stats(const invocation& call);
outcome<int> run_backends(const invocation& call);
outcome<int> run_top(const invocation& call);
outcome<int> run_logs(const invocation& call);
outcome<int> run_events(const invocation& call);
outcome<int> run_tap(const invocation& call);

// Shows events; unless `type` is empty, only those of runtimes of that type.
outcome<int> show_events(const invocation& call, std::string_view type);

// The types whose options `create` and `edit` take.
outcome<const runtime::type_row*> type_by_name(const std::string& type,
                                               const daemon_address& daemon);
outcome<const runtime::type_row*> type_of_runtime(const std::string& word,
                                                  const daemon_address& daemon);

// Creates a runtime, as the flags --start and --dry-run say, and reports its state.
outcome<int> create_runtime(const invocation& call, const std::string& type,
                            const std::string& name, const nlohmann::json& options);

// Whether a daemon runs and has a runtime of that name.
bool is_runtime(const std::string& name, const daemon_address& daemon);

// The address of a running cache, from the daemon's description of it. Errors: it has none.
[[nodiscard]] outcome<std::string> endpoint_of_cache(const nlohmann::json& detail,
                                                     const daemon_address& daemon);

// Rejects a URL for --target, a mistake that the daemon could only report as the invalid
// "tcp://tcp://HOST:PORT". Errors: misused, with what to write.
[[nodiscard]] outcome<> check_target(const nlohmann::json& options);

// The daemon's runtimes, for completion; empty if it does not answer. Groups begin with an @.
[[nodiscard]] std::vector<std::string> runtime_names(const daemon_address& daemon);
[[nodiscard]] std::vector<std::string> group_names(const daemon_address& daemon);
[[nodiscard]] std::vector<std::string> backend_names(const std::string& proxy,
                                                     const daemon_address& daemon);

// The flags of verbs that show lines as they are written.
[[nodiscard]] option_rows stream_flags();

[[nodiscard]] std::vector<verb_row> runtime_verbs();

}  // namespace strata::cli
