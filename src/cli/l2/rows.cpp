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
                  .help = "destination address"});
  rows.push_back({.key = "prio",
                  .kind = count,
                  .value_name = "PCP",
                  .help = "priority, 0 to 7; adds a VLAN tag to the frame",
                  .max = 7});
  rows.push_back({.key = "dei",
                  .kind = flag,
                  .help = "mark the frame as drop eligible; adds a VLAN tag to the frame"});
  rows.push_back({.key = "outer",
                  .kind = count,
                  .value_name = "VID",
                  .help = "add an outer 802.1ad tag with this VLAN (QinQ)",
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
       .help = "longest wait for the kernel to accept a frame when a queueing discipline is slow"});
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
       .help = "stop after TIME without a frame; fails if no frame came at all"},
      {.key = "promiscuous", .kind = flag, .help = "also receive frames for other addresses"},
      through_daemon_flag(),
  };
}

option_rows l2_recv_flags() {
  auto rows = frame_flags();
  rows.push_back({.key = "src",
                  .kind = text,
                  .value_name = "MAC",
                  .help = "receive only frames from this address"});
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
                  .help = "write the frames to a pcapng file instead of printing them; - means "
                          "standard output"});
  rows.push_back({.key = "hex",
                  .short_flag = 'x',
                  .kind = flag,
                  .help = "also print the bytes of each frame"});
  return rows;
}

option_rows l2_ipc_flags() {
  return {
      {.key = "iface",
       .kind = text,
       .value_name = "IFACE",
       .default_text = "lo",
       .help = "interface of the channel; all its processes use the same"},
      {.key = "acknowledged",
       .short_flag = 'a',
       .kind = flag,
       .help = "acknowledged channel: exactly two ends, no message is lost"},
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
                  .help = "TCP port on which server and client meet"});
  rows.push_back({.key = "timeout",
                  .kind = seconds,
                  .value_name = "TIME",
                  .default_text = "30s",
                  .help = "longest wait for the other end to connect"});
  return rows;
}

}  // namespace

option_rows choosing_flags() {
  return {
      {.key = "ethertype",
       .short_flag = 'e',
       .kind = text,
       .value_name = "TYPE",
       .help = "receive only frames of this EtherType (after all VLAN tags)"},
      {.key = "vlan",
       .kind = count,
       .value_name = "VID",
       .help = "receive only frames of this VLAN",
       .max = 4094},
  };
}

option_rows frame_flags() {
  return {
      {.key = "ethertype",
       .short_flag = 'e',
       .kind = text,
       .value_name = "TYPE",
       .default_text = "0x88b5",
       .help = "EtherType, such as 0x88b5, or a decimal number"},
      {.key = "vlan",
       .kind = count,
       .value_name = "VID",
       .help = "VLAN of the frames, 0 to 4094; 0 is a tag with a priority only",
       .max = 4094},
  };
}

options::option_row through_daemon_flag() {
  return {.key = "through_daemon",
          .kind = flag,
          .help =
              "let the daemon create the socket if its policy permits; the daemon listens at "
              "$STRATA_BROKER_SOCKET (default: /run/strata/broker.sock)"};
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
       "send a message in an Ethernet frame, or each line of input in its own", 1, 2, run_l2_send,
       l2_send_flags()},
      {"l2 recv", "IFACE", ethernet, "print the messages of received Ethernet frames", 1, 1,
       run_l2_recv, l2_recv_flags()},
      {"l2 dump", "IFACE|any", ethernet,
       "print the frames of an interface, or of all; -w writes those of one interface to a file", 1,
       1, run_l2_dump, l2_dump_flags()},
      {"l2 ipc", "send|recv CHANNEL [MESSAGE|-]", ethernet,
       "send messages between processes, or print those that arrive", 2, 3, run_l2_ipc,
       l2_ipc_flags()},
      {"l2 chat", "IFACE server|client [HOST]", ethernet,
       "exchange lines with another machine in Ethernet frames, set up over TCP", 2, 3, run_l2_chat,
       l2_chat_flags()},
  };
  for (auto& row : probe_verbs()) rows.push_back(row);
  for (auto& row : link_verbs()) rows.push_back(row);
  return rows;
}

}  // namespace strata::cli
