#include "cli/xdp/rows.hpp"

#include "cli/l2/rows.hpp"
#include "cli/terminal/listing.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using enum verb_group;

option_rows xdp_flags() {
  return {
      {.key = "queue",
       .short_flag = 'Q',
       .kind = count,
       .value_name = "N",
       .default_text = "0",
       .help = "receive and transmit queue of the interface",
       .max = UINT32_MAX},
      {.key = "count",
       .short_flag = 'c',
       .kind = count,
       .value_name = "N",
       .help = "stop after N frames"},
      {.key = "need_wakeup",
       .short_flag = 'w',
       .kind = flag,
       .help = "let the kernel sleep until it is woken"},
      {.key = "zero_copy",
       .short_flag = 'z',
       .kind = flag,
       .help = "require zero-copy mode: fail if the driver does not support it"},
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
                  .help = "destination address and UDP port"});
  rows.push_back({.key = "sip",
                  .kind = text,
                  .value_name = "IP:PORT",
                  .default_text = "192.0.2.1:9000",
                  .help = "source address and UDP port"});
  rows.push_back({.key = "size",
                  .kind = count,
                  .value_name = "BYTES",
                  .default_text = "60",
                  .help = "length of a frame without FCS; above 4096 it takes several chunks "
                          "(Linux 6.6 or newer)",
                  .max = 65535,
                  .min = 60});
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
                  .help = "stop after TIME without a frame; starts at the first frame"});
  for (auto& row : choosing_flags()) rows.push_back(row);
  rows.push_back({.key = "dst",
                  .kind = text,
                  .value_name = "MAC",
                  .help = "receive only frames to this address"});
  rows.push_back({.key = "udp_port",
                  .kind = port,
                  .value_name = "PORT",
                  .help = "receive only UDP packets to this port"});
  return rows;
}

option_rows xdp_drop_flags() {
  auto rows = xdp_receive_flags();
  rows.push_back(through_daemon_flag());
  rows.push_back(
      {.key = "multi_buffer",
       .kind = flag,
       .help = "also receive frames that need several chunks of the UMEM (Linux 6.6 or newer)"});
  rows.push_back({.key = "busy_poll",
                  .kind = count,
                  .value_name = "US",
                  .help = "poll the driver for US microseconds before waiting",
                  .max = INT32_MAX,
                  .min = 1});
  return rows;
}

}  // namespace

std::vector<verb_row> xdp_verbs() {
  return {
      {"xdp gen", "IFACE", ethernet, "send UDP packets as fast as AF_XDP accepts them", 1, 1,
       run_xdp_gen, xdp_gen_flags()},
      {"xdp drop", "IFACE", ethernet, "receive frames through AF_XDP, count and discard them", 1, 1,
       run_xdp_drop, xdp_drop_flags()},
      {"xdp fwd", "IFACE IFACE", ethernet, "forward frames between two interfaces through AF_XDP",
       2, 2, run_xdp_fwd, xdp_receive_flags()},
      {"xdp stats",
       "[IFACE]",
       ethernet,
       "show the attached XDP programs and their mode",
       0,
       1,
       run_xdp_stats,
       {no_header_row()}},
  };
}

}  // namespace strata::cli
