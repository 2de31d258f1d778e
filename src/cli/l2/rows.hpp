// The verbs of this folder: their rows for the table, and their handlers, each in the file named
// after it.
#pragma once

#include <string>
#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_l2_ifaces(const invocation& call);
outcome<int> run_l2_send(const invocation& call);
outcome<int> run_l2_recv(const invocation& call);
outcome<int> run_l2_dump(const invocation& call);
outcome<int> run_l2_ipc(const invocation& call);
outcome<int> run_l2_chat(const invocation& call);
outcome<int> run_l2_ping(const invocation& call);
outcome<int> run_l2_echo(const invocation& call);
outcome<int> run_l2_flood(const invocation& call);
outcome<int> run_l2_sink(const invocation& call);
outcome<int> run_l2_cycle(const invocation& call);
outcome<int> run_l2_qdisc(const invocation& call);
outcome<int> run_l2_link_list(const invocation& call);
outcome<int> run_l2_link_add(const invocation& call);
outcome<int> run_l2_link_set(const invocation& call);
outcome<int> run_l2_link_del(const invocation& call);

/// Flags that select frames.
[[nodiscard]] option_rows choosing_flags();
/// EtherType and VLAN.
[[nodiscard]] option_rows frame_flags();
/// Not for verbs with two sockets: the daemon opens one for each request.
[[nodiscard]] options::option_row through_daemon_flag();

/// The interfaces of this machine, for completion; empty if they cannot be listed.
[[nodiscard]] std::vector<std::string> interface_names();

[[nodiscard]] std::vector<verb_row> l2_verbs();
/// The verbs that measure a link.
[[nodiscard]] std::vector<verb_row> probe_verbs();

}  // namespace strata::cli
