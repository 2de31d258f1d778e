// The one table of verbs: parsing, help and dispatch all come from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/command_line.hpp"
#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"
#include "runtime/options.hpp"

namespace strata::cli {

enum class verb_group : std::uint8_t { runtimes, look, talk, ethernet, netlink, system };

/// Finds the type whose options the verb takes too, from the verb's first word.
using type_finder = outcome<const runtime::type_row*> (*)(const std::string& first_word,
                                                          const std::string& socket);

struct verb_row {
  std::string_view name;      ///< one word, or a family's and its member's: `l2 send`
  std::string_view synopsis;  ///< what follows the name: `NAME|GLOB...`
  verb_group group = verb_group::system;
  std::string_view summary;
  std::size_t least_words = 0;
  std::size_t most_words = 0;
  handler run = nullptr;
  option_rows flags = {};
  type_finder find_type = nullptr;
};

[[nodiscard]] std::span<const verb_row> verbs();
/// Errors: misused, with the nearest verb.
[[nodiscard]] outcome<const verb_row*> find_verb(std::string_view name);

/// Says whether verbs of two words begin with `word`.
[[nodiscard]] bool is_family(std::string_view word);

/// The flags that every verb has.
[[nodiscard]] std::span<const runtime::option_row> common_flags();

// The handlers, each in the file of its name; lifecycle.cpp has the verbs that need no more than
// a request for each name.
outcome<int> run_create(const invocation& call);
outcome<int> run_edit(const invocation& call);
outcome<int> run_start(const invocation& call);
outcome<int> run_stop(const invocation& call);
outcome<int> run_restart(const invocation& call);
outcome<int> run_reload(const invocation& call);
outcome<int> run_remove(const invocation& call);
outcome<int> run_interactive(const invocation& call);
outcome<int> run_send(const invocation& call);
outcome<int> run_ls(const invocation& call);
outcome<int> run_ps(const invocation& call);
outcome<int> run_show(const invocation& call);
outcome<int> run_owner(const invocation& call);
outcome<int> run_stats(const invocation& call);
outcome<int> run_logs(const invocation& call);
outcome<int> run_events(const invocation& call);
outcome<int> run_daemon(const invocation& call);
outcome<int> run_doctor(const invocation& call);
outcome<int> run_l2_ifaces(const invocation& call);
outcome<int> run_l2_send(const invocation& call);
outcome<int> run_l2_recv(const invocation& call);
outcome<int> run_l2_dump(const invocation& call);
outcome<int> run_l2_ipc(const invocation& call);
outcome<int> run_l2_chat(const invocation& call);
outcome<int> run_xdp_gen(const invocation& call);
outcome<int> run_xdp_drop(const invocation& call);
outcome<int> run_xdp_fwd(const invocation& call);
outcome<int> run_xdp_stats(const invocation& call);
outcome<int> run_nl_families(const invocation& call);
outcome<int> run_nl_show(const invocation& call);
outcome<int> run_nl_policy(const invocation& call);
outcome<int> run_nl_call(const invocation& call);
outcome<int> run_nl_listen(const invocation& call);
outcome<int> run_version(const invocation& call);
outcome<int> run_help(const invocation& call);

/// The rows of `nl …`, for the table.
[[nodiscard]] std::vector<verb_row> nl_verbs();

outcome<const runtime::type_row*> type_by_name(const std::string& type, const std::string& socket);
outcome<const runtime::type_row*> type_of_runtime(const std::string& name,
                                                  const std::string& socket);

}  // namespace strata::cli
