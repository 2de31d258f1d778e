#include "cli/bench/rows.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;

options::option_row runs_flag(std::string_view help) {
  return {.key = "runs",
          .kind = count,
          .value_name = "N",
          .default_text = "5",
          .help = help,
          .max = 1000,
          .min = 1};
}

option_rows tag_flags() {
  return {
      {.key = "tagged",
       .kind = choice,
       .value_name = "WHICH",
       .default_text = "some",
       .help = "payloads for which raw paths are also measured with a VLAN tag; 'some': the "
               "smallest and the largest up to 1500, with --full all up to 1500",
       .choices = "none|some|all"},
      {.key = "vlan",
       .kind = count,
       .value_name = "VID",
       .default_text = "10",
       .help = "VLAN of the tagged frames",
       .max = 4094},
      {.key = "prio",
       .kind = count,
       .value_name = "PCP",
       .default_text = "7",
       .help = "priority of the tagged frames, 0 to 7",
       .max = 7},
  };
}

option_rows measuring_flags() {
  option_rows rows{
      {.key = "full",
       .kind = flag,
       .help = "measure all payloads: 50 to 1500 B in steps of 50, 4096 and 8000 B; takes long"},
      {.key = "measures",
       .kind = text,
       .value_name = "A,B",
       .help = "run only these of: one-way, round-trip, filter, sockets"},
      {.key = "paths",
       .kind = text,
       .value_name = "A,B",
       .help = "measure only these paths; an unknown name lists all paths"},
      {.key = "payloads",
       .kind = text,
       .value_name = "A,B",
       .help = "payload sizes in bytes (default: 50,200,600,1000,1400,4096,8000)"},
      {.key = "seconds",
       .kind = seconds,
       .value_name = "TIME",
       .default_text = "0.1",
       .help = "duration of one measurement"},
      runs_flag("number of runs; each measures every path with every payload once, and results are "
                "medians of the runs; fewer than 5 decide no comparison"),
      {.key = "base",
       .kind = text,
       .value_name = "PATH",
       .default_text = "udp",
       .help = "path to which the others are compared"},
      {.key = "revision",
       .kind = text,
       .value_name = "TEXT",
       .help = "source version to record in the results and the report"},
      {.key = "buffer",
       .kind = bytes,
       .value_name = "SIZE",
       .default_text = "4MiB",
       .help = "memory of each receiver (socket buffer or ring)",
       .max = 1U << 28U,
       .min = 4096},
      {.key = "rate",
       .kind = count,
       .value_name = "N",
       .help =
           "send N messages per second and show each message's delay from its scheduled send time",
       .max = 100'000'000},
      {.key = "foreign",
       .kind = count,
       .value_name = "N",
       .default_text = "100000",
       .help = "for the measure 'filter': frames of another EtherType per second",
       .max = 10'000'000},
  };
  for (auto& row : tag_flags()) rows.push_back(row);
  return rows;
}

options::option_row output_flag() {
  return {.key = "output",
          .short_flag = 'o',
          .kind = text,
          .value_name = "DIR",
          .help = "write results.json, report.md and plots to DIR"};
}

option_rows remote_flags() {
  option_rows rows{
      {.key = "host",
       .kind = text,
       .value_name = "[USER@]HOST[:PORT]",
       .help = "the other machine, or an alias from ~/.ssh/config"},
      {.key = "ssh_key",
       .kind = text,
       .value_name = "FILE",
       .help = "private SSH key (default: the keys of ssh-agent and ~/.ssh)"},
      {.key = "iface",
       .kind = text,
       .value_name = "IFACE",
       .help = "local interface to measure on"},
      {.key = "remote_iface",
       .kind = text,
       .value_name = "IFACE",
       .help = "interface of the other machine, on the same wire"},
      {.key = "accept_new_host_key",
       .kind = flag,
       .help = "accept and record the key of an unknown host; a changed key is still refused"},
      {.key = "known_hosts",
       .kind = text,
       .value_name = "FILE",
       .help = "file of known host keys (default: ~/.ssh/known_hosts)"},
      {.key = "sudo_password_fd",
       .kind = count,
       .value_name = "N",
       .help = "read the password for sudo on the other machine from this file descriptor "
               "(default: STRATA_SUDO_PASSWORD, else the terminal)",
       .max = 1U << 20U},
      {.key = "remote_dir",
       .kind = text,
       .value_name = "DIR",
       .help = "folder on the other machine in which to create a private one for the copy "
               "(default: $TMPDIR or /tmp)"},
  };
  rows.push_back(output_flag());
  for (const auto& row : measuring_flags()) {
    // The delay at a rate needs one clock for both ends.
    if (row.key != "rate") rows.push_back(row);
  }
  return rows;
}

option_rows paths_flags() {
  auto rows = measuring_flags();
  rows.push_back({.key = "iface",
                  .kind = text,
                  .value_name = "IFACE",
                  .help = "measure on this interface instead of a veth; needs --peer"});
  rows.push_back({.key = "mtu",
                  .kind = count,
                  .value_name = "N",
                  .help = "MTU of the veth (default: 1500, or 9000 for payloads above 1500)",
                  .max = 65'535,
                  .min = 576});
  rows.push_back({.key = "peer",
                  .kind = text,
                  .value_name = "HOST:PORT",
                  .help = "address of 'strata bench node' on the other machine"});
  rows.push_back(output_flag());
  rows.push_back({.key = "plant",
                  .kind = choice,
                  .value_name = "BUG",
                  .help = "self-check: the receiver sleeps 1 ms every 1000 messages and has 64 KiB "
                          "of memory, which must show up as drops",
                  .choices = "receiver-sleep"});
  return rows;
}

option_rows netlink_flags() {
  return {
      {.key = "clients",
       .kind = text,
       .value_name = "DIR",
       .help = "folder with the programs to compare, built by 'make -C examples/netlink_exchange "
               "OUT=DIR' (default: 'clients' beside this program, or in libexec/strata)"},
      {.key = "family",
       .kind = text,
       .value_name = "FAMILY",
       .help = "netlink family to exchange with, from a module that implements "
               "kernel/uapi/strata_echo.h (default: the kernel's controller)"},
      {.key = "times",
       .kind = count,
       .value_name = "N",
       .default_text = "100000",
       .help = "exchanges per run",
       .max = 1'000'000,
       .min = 1},
      runs_flag("runs of each program, taken in turns; fewer than 5 decide no comparison"),
  };
}

}  // namespace

std::vector<verb_row> bench_verbs() {
  return {
      {"bench paths", "", verb_group::ethernet,
       "measure the cost of raw Ethernet, UDP and TCP on this machine", 0, 0, run_bench_paths,
       paths_flags()},
      {"bench remote", "", verb_group::ethernet,
       "measure the same between two machines; copies the program to the other one by ssh and "
       "starts it there",
       0, 0, run_bench_remote, remote_flags()},
      {"bench compare",
       "RESULTS.JSON RESULTS.JSON...",
       verb_group::ethernet,
       "compare results of 'bench paths' or 'bench remote' in one table; shows which ratios agree "
       "within their intervals",
       2,
       any_number,
       run_bench_compare,
       {}},
      {"bench netlink", "", verb_group::netlink,
       "measure the cost of a netlink exchange with plain C, libnl, neli and this library", 0, 0,
       run_bench_netlink, netlink_flags()},
      {"bench node",
       "IFACE",
       verb_group::ethernet,
       "serve as the far end of 'bench paths --iface'; anyone who can reach its port can make it "
       "send test frames",
       1,
       1,
       run_bench_node,
       {{.key = "listen",
         .kind = text,
         .value_name = "HOST:PORT",
         .default_text = "0.0.0.0:4790",
         .help = "address to listen at"},
        {.key = "stdio",
         .kind = flag,
         .help = "use standard input and output instead of listening; for 'bench remote'"},
        {.key = "once", .kind = flag, .help = "exit after the first bench has disconnected"}}},
  };
}

}  // namespace strata::cli
