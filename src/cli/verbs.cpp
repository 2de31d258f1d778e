#include "cli/verbs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/bench/paths.hpp"
#include "cli/line/nearest.hpp"

namespace strata::cli {

namespace {

using enum runtime::option_kind;
using enum verb_group;

constexpr std::size_t any_number = SIZE_MAX;

option_rows columns_flag() {
  return {{.key = "columns",
           .kind = text,
           .value_name = "A,B,C",
           .help = "show these columns; an unknown one lists them all"}};
}

option_rows follow_flags() {
  return {{.key = "follow",
           .short_flag = 'f',
           .kind = flag,
           .help = "go on with what comes, until Ctrl-C"},
          {.key = "tail",
           .short_flag = 'n',
           .kind = count,
           .value_name = "N",
           .default_text = "1000",
           .help = "start with the last N",
           .max = 1000}};
}

option_rows daemon_flags() {
  return {{.key = "state_dir",
           .kind = text,
           .value_name = "DIR",
           .help = "where runtimes are kept; else $STRATA_STATE_DIR"},
          {.key = "socket_group",
           .kind = text,
           .value_name = "GROUP",
           .help = "let members of GROUP control the daemon too; else its user and root alone may"},
          {.key = "loop",
           .kind = choice,
           .value_name = "WHICH",
           .default_text = "auto",
           .help = "event loop; auto takes io_uring where the kernel permits it",
           .choices = "auto|io_uring|epoll"},
          {.key = "loops",
           .kind = count,
           .value_name = "N",
           .default_text = "0",
           .help = "event loops; 0 is one a core",
           .max = 64},
          {.key = "metrics",
           .kind = text,
           .value_name = "URL",
           .help = "serve Prometheus metrics on tcp://HOST:PORT"},
          {.key = "log_level",
           .kind = choice,
           .value_name = "LEVEL",
           .default_text = "info",
           .help = "least level that is logged",
           .choices = "debug|info|warning|error"},
          {.key = "socket_policy",
           .kind = text,
           .value_name = "FILE",
           .help = "who may have AF_XDP and AF_PACKET sockets of the daemon; else socket-policy in "
                   "$STRATA_CONFIG_DIR or /etc/strata, if it is there"},
          {.key = "drain_timeout",
           .kind = seconds,
           .value_name = "TIME",
           .default_text = "5",
           .help = "longest time that runtimes may take to stop when the daemon ends"}};
}

std::vector<verb_row> runtime_verbs() {
  return {
      {"create",
       "TYPE NAME",
       runtimes,
       "create a runtime",
       2,
       2,
       run_create,
       {{.key = "start", .short_flag = 's', .kind = flag, .help = "start it at once"}},
       type_by_name},
      {"start",
       "NAME|GLOB...",
       runtimes,
       "start runtimes",
       1,
       any_number,
       run_start,
       {{.key = "interactive",
         .short_flag = 'i',
         .kind = flag,
         .help = "send each line of input and show what comes, of a cache: a prompt for its "
                 "commands; Ctrl-C or the input's end detaches, the runtime goes on"}}},
      {"stop", "NAME|GLOB...", runtimes, "stop runtimes", 1, any_number, run_stop},
      {"restart", "NAME|GLOB...", runtimes, "stop runtimes if they run, then start them", 1,
       any_number, run_restart},
      {"reload", "NAME|GLOB...", runtimes, "restart those runtimes that run", 1, any_number,
       run_reload},
      {"edit",
       "NAME",
       runtimes,
       "change a runtime's options",
       1,
       1,
       run_edit,
       {{.key = "reset",
         .kind = list,
         .value_name = "OPTION",
         .help = "give an option its default again; repeatable"}},
       type_of_runtime},
      {"remove", "NAME|GLOB...", runtimes, "stop runtimes if they run, and forget them", 1,
       any_number, run_remove},
  };
}

option_rows frame_flags() {
  return {
      {.key = "ethertype",
       .short_flag = 'e',
       .kind = text,
       .value_name = "TYPE",
       .default_text = "0x88b5",
       .help = "EtherType, as 0x88b5 or a decimal number"},
      {.key = "vlan",
       .kind = count,
       .value_name = "VID",
       .help = "in this VLAN, 0 to 4094; 0 only gives a priority",
       .max = 4094},
  };
}

// Not for verbs with two sockets: the daemon makes one for each request.
runtime::option_row through_daemon_flag() {
  return {.key = "through-daemon",
          .kind = flag,
          .help =
              "have the daemon make the socket, by its policy; $STRATA_BROKER_SOCKET says where "
              "it listens, if not at /run/strata/broker.sock"};
}

option_rows l2_send_flags() {
  auto rows = frame_flags();
  rows.push_back({.key = "dst",
                  .kind = text,
                  .value_name = "MAC",
                  .default_text = "ff:ff:ff:ff:ff:ff",
                  .help = "to this address"});
  rows.push_back({.key = "prio",
                  .kind = count,
                  .value_name = "PCP",
                  .help = "priority, 0 to 7; a frame that has one is tagged",
                  .max = 7});
  rows.push_back({.key = "dei", .kind = flag, .help = "drop eligible; tags the frame"});
  rows.push_back({.key = "outer",
                  .kind = count,
                  .value_name = "VID",
                  .help = "put an 802.1ad tag of this VLAN around it (QinQ)",
                  .max = 4094});
  rows.push_back({.key = "count",
                  .short_flag = 'c',
                  .kind = count,
                  .value_name = "N",
                  .default_text = "1",
                  .help = "send the message so often"});
  rows.push_back({.key = "interval",
                  .kind = seconds,
                  .value_name = "TIME",
                  .default_text = "0",
                  .help = "wait so long between two"});
  rows.push_back(through_daemon_flag());
  return rows;
}

option_rows listening_flags() {
  return {
      {.key = "count",
       .short_flag = 'c',
       .kind = count,
       .value_name = "N",
       .help = "end after so many frames"},
      {.key = "timeout",
       .kind = seconds,
       .value_name = "TIME",
       .help = "end when nothing has come for so long; that is a failure if nothing came at all"},
      {.key = "promiscuous", .kind = flag, .help = "also take what is for other addresses"},
      through_daemon_flag(),
  };
}

option_rows l2_recv_flags() {
  auto rows = frame_flags();
  rows.push_back(
      {.key = "src", .kind = text, .value_name = "MAC", .help = "only from this address"});
  for (auto& row : listening_flags()) rows.push_back(row);
  return rows;
}

option_rows choosing_flags() {
  return {
      {.key = "ethertype",
       .short_flag = 'e',
       .kind = text,
       .value_name = "TYPE",
       .help = "only this EtherType, behind all tags"},
      {.key = "vlan", .kind = count, .value_name = "VID", .help = "only this VLAN", .max = 4094},
  };
}

option_rows l2_dump_flags() {
  auto rows = listening_flags();
  for (auto& row : choosing_flags()) rows.push_back(row);
  rows.push_back({.key = "write",
                  .short_flag = 'w',
                  .kind = text,
                  .value_name = "FILE",
                  .help = "write the frames to a pcapng file instead of showing them; - is "
                          "standard output"});
  rows.push_back({.key = "hex", .short_flag = 'x', .kind = flag, .help = "show the bytes too"});
  return rows;
}

option_rows l2_ipc_flags() {
  return {
      {.key = "iface",
       .kind = text,
       .value_name = "IFACE",
       .default_text = "lo",
       .help = "the interface that all of the channel share"},
      {.key = "acknowledged",
       .short_flag = 'a',
       .kind = flag,
       .help = "between two ends only, and nothing is lost"},
      {.key = "count",
       .short_flag = 'c',
       .kind = count,
       .value_name = "N",
       .help = "recv: end after so many messages"},
      {.key = "timeout",
       .kind = seconds,
       .value_name = "TIME",
       .help = "recv: end when nothing has come for so long; send -a: longest wait for the "
               "other end (default 5s)"},
  };
}

option_rows l2_chat_flags() {
  auto rows = frame_flags();
  rows.push_back({.key = "prio",
                  .kind = count,
                  .value_name = "PCP",
                  .default_text = "7",
                  .help = "priority of the frames, 0 to 7",
                  .max = 7});
  rows.push_back({.key = "port",
                  .short_flag = 'p',
                  .kind = port,
                  .value_name = "PORT",
                  .default_text = "9000",
                  .help = "TCP port on which both agree"});
  rows.push_back({.key = "timeout",
                  .kind = seconds,
                  .value_name = "TIME",
                  .default_text = "30s",
                  .help = "longest wait for the other end"});
  return rows;
}

std::vector<verb_row> l2_verbs() {
  return {
      {"l2 ifaces", "", ethernet, "list the network interfaces", 0, 0, run_l2_ifaces},
      {"l2 send", "IFACE [MESSAGE|-]", ethernet,
       "send an Ethernet frame with a message, or one for each line of input", 1, 2, run_l2_send,
       l2_send_flags()},
      {"l2 recv", "IFACE", ethernet, "show the messages of Ethernet frames", 1, 1, run_l2_recv,
       l2_recv_flags()},
      {"l2 dump", "IFACE", ethernet, "show or keep the frames that pass an interface", 1, 1,
       run_l2_dump, l2_dump_flags()},
      {"l2 ipc", "send|recv CHANNEL [MESSAGE|-]", ethernet,
       "send messages between processes, or show those that come", 2, 3, run_l2_ipc,
       l2_ipc_flags()},
      {"l2 chat", "IFACE server|client [HOST]", ethernet,
       "send lines of input to another machine as frames, agreed on by TCP", 2, 3, run_l2_chat,
       l2_chat_flags()},
  };
}

option_rows xdp_flags() {
  return {
      {.key = "queue",
       .short_flag = 'Q',
       .kind = count,
       .value_name = "N",
       .default_text = "0",
       .help = "queue of the interface"},
      {.key = "count",
       .short_flag = 'c',
       .kind = count,
       .value_name = "N",
       .help = "end after so many frames"},
      {.key = "need-wakeup",
       .short_flag = 'w',
       .kind = flag,
       .help = "the kernel sleeps till woken"},
      {.key = "zero-copy",
       .short_flag = 'z',
       .kind = flag,
       .help = "only if the driver reads and writes the frames itself"},
  };
}

option_rows xdp_gen_flags() {
  auto rows = xdp_flags();
  rows.push_back(through_daemon_flag());
  for (const auto& [key, help] : {std::pair{"dmac", "destination address (default: broadcast)"},
                                  {"smac", "source address (default: the interface's)"}}) {
    rows.push_back({.key = key, .kind = text, .value_name = "MAC", .help = help});
  }
  rows.push_back({.key = "dip",
                  .kind = text,
                  .value_name = "IP:PORT",
                  .default_text = "192.0.2.2:9000",
                  .help = "to this address and UDP port"});
  rows.push_back({.key = "sip",
                  .kind = text,
                  .value_name = "IP:PORT",
                  .default_text = "192.0.2.1:9000",
                  .help = "from this address and UDP port"});
  rows.push_back({.key = "size",
                  .kind = count,
                  .value_name = "BYTES",
                  .default_text = "60",
                  .help = "of a frame, without FCS",
                  .max = 4096});
  return rows;
}

option_rows xdp_receive_flags() {
  auto rows = xdp_flags();
  rows.push_back({.key = "mode",
                  .kind = text,
                  .value_name = "MODE",
                  .default_text = "automatic",
                  .help = "where the XDP program runs: native, generic, automatic"});
  rows.push_back({.key = "timeout",
                  .kind = seconds,
                  .value_name = "TIME",
                  .help = "end when nothing has come for so long, after the first frame"});
  for (auto& row : choosing_flags()) rows.push_back(row);
  rows.push_back(
      {.key = "dst", .kind = text, .value_name = "MAC", .help = "only frames to this address"});
  rows.push_back(
      {.key = "udp-port", .kind = port, .value_name = "PORT", .help = "only UDP to this port"});
  return rows;
}

option_rows xdp_drop_flags() {
  auto rows = xdp_receive_flags();
  rows.push_back(through_daemon_flag());
  rows.push_back({.key = "busy-poll",
                  .kind = count,
                  .value_name = "US",
                  .help = "poll the driver for so many microseconds before waiting"});
  return rows;
}

std::vector<verb_row> xdp_verbs() {
  return {
      {"xdp gen", "IFACE", ethernet, "send UDP packets as fast as AF_XDP takes them", 1, 1,
       run_xdp_gen, xdp_gen_flags()},
      {"xdp drop", "IFACE", ethernet, "take frames by AF_XDP, and count them", 1, 1, run_xdp_drop,
       xdp_drop_flags()},
      {"xdp fwd", "IFACE IFACE", ethernet, "forward frames between two interfaces by AF_XDP", 2, 2,
       run_xdp_fwd, xdp_receive_flags()},
      {"xdp stats", "[IFACE]", ethernet, "show which XDP programs are attached, and their mode", 0,
       1, run_xdp_stats},
  };
}

std::vector<verb_row> other_verbs() {
  return {
      {"ls", "", look, "list all runtimes", 0, 0, run_ls, columns_flag()},
      {"ps", "", look, "list running runtimes", 0, 0, run_ps, columns_flag()},
      {"show", "NAME|GLOB...", look, "show runtimes with all their options", 1, any_number,
       run_show},
      {"stats", "NAME|GLOB...", look, "show counters and rates", 1, any_number, run_stats,
       columns_flag()},
      {"owner", "NAME", look, "show a runtime's owner and children", 1, 1, run_owner},
      {"logs", "NAME", look, "show a runtime's log", 1, 1, run_logs, follow_flags()},
      {"events", "", look, "show what happened to runtimes", 0, 0, run_events, follow_flags()},
      {"send", "NAME [MESSAGE|-]", talk,
       "send a message, or each line of input, to a client's server or a server's clients", 1, 2,
       run_send},
      {"daemon", "", verb_group::system, "run the daemon, in the foreground", 0, 0, run_daemon,
       daemon_flags()},
      {"doctor",
       "",
       verb_group::system,
       "check what this machine gives strata to work with",
       0,
       0,
       run_doctor,
       {{.key = "state_dir",
         .kind = text,
         .value_name = "DIR",
         .help = "state folder to check; else $STRATA_STATE_DIR"}}},
      {"version", "", verb_group::system, "show the versions of this program and the daemon", 0, 0,
       run_version},
      {"help", "[VERB]", verb_group::system, "show what there is, or what a verb takes", 0, 2,
       run_help},
  };
}

}  // namespace

std::span<const verb_row> verbs() {
  static const auto table = [] {
    auto all = runtime_verbs();
    for (auto& verb : l2_verbs()) all.push_back(std::move(verb));
    for (auto& verb : xdp_verbs()) all.push_back(std::move(verb));
    for (auto& verb : nl_verbs()) all.push_back(std::move(verb));
    for (auto& verb : bench_verbs()) all.push_back(std::move(verb));
    for (auto& verb : other_verbs()) all.push_back(std::move(verb));
    return all;
  }();
  return table;
}

bool is_family(std::string_view word) {
  return std::ranges::any_of(verbs(), [&](const verb_row& verb) {
    return verb.name.size() > word.size() && verb.name.starts_with(word) &&
           verb.name[word.size()] == ' ';
  });
}

outcome<const verb_row*> find_verb(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& verb : verbs()) {
    if (verb.name == name) return &verb;
    known.emplace_back(verb.name);
  }
  if (is_family(name)) {
    return refuse(exit_misused,
                  fmt::format("'{0}' needs one word more; 'strata {0} --help' shows which", name));
  }
  return refuse(exit_misused, fmt::format("there is no verb '{}'{}; 'strata --help' shows all",
                                          name, did_you_mean(name, known)));
}

std::span<const runtime::option_row> common_flags() {
  static const option_rows rows = {
      {.key = "format",
       .kind = choice,
       .value_name = "HOW",
       .default_text = "table",
       .help = "how data is shown",
       .choices = "table|json"},
      {.key = "quiet", .short_flag = 'q', .kind = flag, .help = "show names only"},
      {.key = "socket",
       .kind = text,
       .value_name = "PATH",
       .help = "the daemon's control socket; else $STRATA_SOCKET"},
      {.key = "help", .short_flag = 'h', .kind = flag, .help = "show this"},
  };
  return rows;
}

}  // namespace strata::cli
