// The verbs that measure a link, and their flags.
#include "cli/l2/rows.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using enum verb_group;

option_rows receiving_flags() {
  auto rows = frame_flags();
  rows.push_back({.key = "count",
                  .short_flag = 'c',
                  .kind = count,
                  .value_name = "N",
                  .help = "stop after N frames",
                  .min = 1});
  rows.push_back(through_daemon_flag());
  return rows;
}

option_rows ending_by_silence(option_rows rows) {
  rows.push_back({.key = "timeout",
                  .kind = seconds,
                  .value_name = "TIME",
                  .help = "stop after TIME without a frame; fails if no frame came at all"});
  return rows;
}

option_rows probing_flags() {
  auto rows = receiving_flags();
  rows.push_back({.key = "prio",
                  .kind = count,
                  .value_name = "PCP",
                  .help = "priority, 0 to 7; adds a VLAN tag to the frame",
                  .max = 7});
  rows.push_back({.key = "size",
                  .short_flag = 's',
                  .kind = count,
                  .value_name = "BYTES",
                  .default_text = "46",
                  .help = "payload of each frame, from 32 to the interface's MTU",
                  .max = 65535,
                  .min = 32});
  return rows;
}

option_rows ping_flags() {
  auto rows = probing_flags();
  rows.push_back({.key = "interval",
                  .short_flag = 'i',
                  .kind = seconds,
                  .value_name = "TIME",
                  .default_text = "1s",
                  .help = "send a request every TIME"});
  rows.push_back({.key = "timeout",
                  .kind = seconds,
                  .value_name = "TIME",
                  .default_text = "1s",
                  .help = "wait TIME for answers after the last request"});
  rows.push_back(
      {.key = "histogram", .kind = flag, .help = "draw a histogram of the round-trip times"});
  return rows;
}

option_rows cycle_flags() {
  auto rows = probing_flags();
  const option_rows own{
      {.key = "period",
       .kind = seconds,
       .value_name = "TIME",
       .default_text = "1ms",
       .help = "send a frame every TIME, at absolute deadlines"},
      {.key = "at",
       .kind = seconds,
       .value_name = "TIME",
       .default_text = "0",
       .help = "offset of deadlines from multiples of the period"},
      {.key = "clock",
       .kind = text,
       .value_name = "CLOCK",
       .default_text = "tai",
       .help = "clock of the deadlines: tai, mono, or a network card's, such as ptp:/dev/ptp0"},
      {.key = "txtime",
       .kind = flag,
       .help = "pass each frame's deadline to the kernel; etf, fq or taprio sends it at that time"},
      {.key = "lead",
       .kind = seconds,
       .value_name = "TIME",
       .default_text = "500us",
       .help = "with --txtime: hand frames to the kernel TIME before their deadline"},
      {.key = "fifo",
       .kind = count,
       .value_name = "PRIO",
       .help = "run with SCHED_FIFO at this priority",
       .max = 99,
       .min = 1},
      {.key = "mlock", .kind = flag, .help = "lock the process's memory"},
      {.key = "cpu", .kind = count, .value_name = "N", .help = "run on this CPU only", .max = 1023},
      {.key = "receive",
       .kind = flag,
       .help = "receive instead: show how far the gaps between frames deviate from the period"},
      {.key = "histogram", .kind = flag, .help = "draw a histogram of the times"},
  };
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

}  // namespace

std::vector<verb_row> probe_verbs() {
  return {
      {"l2 ping", "IFACE DST", ethernet,
       "send requests to 'l2 echo' on another machine and measure the round-trip times", 2, 2,
       run_l2_ping, ping_flags()},
      {"l2 echo", "IFACE", ethernet, "answer the requests of 'l2 ping'", 1, 1, run_l2_echo,
       ending_by_silence(receiving_flags())},
      {"l2 flood", "IFACE DST", ethernet,
       "send numbered frames as fast as the interface accepts them", 2, 2, run_l2_flood,
       probing_flags()},
      {"l2 sink", "IFACE", ethernet, "count frames, and gaps in the numbers of 'l2 flood'", 1, 1,
       run_l2_sink, ending_by_silence(receiving_flags())},
      {"l2 cycle", "IFACE [DST]", ethernet,
       "send a frame each period and show how late it left; --receive measures at the other end", 1,
       2, run_l2_cycle, cycle_flags()},
  };
}

}  // namespace strata::cli
