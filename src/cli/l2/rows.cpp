#include "cli/l2/rows.hpp"

#include "cli/l2/link_flags.hpp"
#include "cli/terminal/listing.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using enum verb_group;

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
                  .help = "send the message N times"});
  rows.push_back({.key = "interval",
                  .short_flag = 'i',
                  .kind = seconds,
                  .value_name = "TIME",
                  .default_text = "0",
                  .help = "wait TIME between messages"});
  rows.push_back(
      {.key = "timeout",
       .kind = seconds,
       .value_name = "TIME",
       .default_text = "5s",
       .help = "longest wait for room for a frame, where a queueing discipline is slow"});
  rows.push_back(through_daemon_flag());
  return rows;
}

option_rows listening_flags() {
  return {
      {.key = "count",
       .short_flag = 'c',
       .kind = count,
       .value_name = "N",
       .help = "stop after N frames"},
      {.key = "timeout",
       .kind = seconds,
       .value_name = "TIME",
       .help = "stop after TIME without a frame; a failure if none came at all"},
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
       .help = "recv: stop after N messages"},
      {.key = "timeout",
       .kind = seconds,
       .value_name = "TIME",
       .help = "recv: stop after TIME without a message; send -a: longest wait for the "
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

}  // namespace

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

options::option_row through_daemon_flag() {
  return {.key = "through_daemon",
          .kind = flag,
          .help =
              "have the daemon make the socket, by its policy; $STRATA_BROKER_SOCKET says where "
              "it listens, if not at /run/strata/broker.sock"};
}

std::vector<verb_row> l2_verbs() {
  std::vector<verb_row> rows{
      {"l2 ifaces",
       "",
       ethernet,
       "list the network interfaces",
       0,
       0,
       run_l2_ifaces,
       {no_header_row()}},
      {"l2 send", "IFACE [MESSAGE|-]", ethernet,
       "send an Ethernet frame with a message, or one for each line of input", 1, 2, run_l2_send,
       l2_send_flags()},
      {"l2 recv", "IFACE", ethernet, "show the messages of Ethernet frames", 1, 1, run_l2_recv,
       l2_recv_flags()},
      {"l2 dump", "IFACE|any", ethernet,
       "show or keep the frames that pass an interface, or show those of all", 1, 1, run_l2_dump,
       l2_dump_flags()},
      {"l2 ipc", "send|recv CHANNEL [MESSAGE|-]", ethernet,
       "send messages between processes, or show those that come", 2, 3, run_l2_ipc,
       l2_ipc_flags()},
      {"l2 chat", "IFACE server|client [HOST]", ethernet,
       "send lines of input to another machine as frames, agreed on by TCP", 2, 3, run_l2_chat,
       l2_chat_flags()},
  };
  for (auto& row : probe_verbs()) rows.push_back(row);
  for (auto& row : link_verbs()) rows.push_back(row);
  return rows;
}

}  // namespace strata::cli
