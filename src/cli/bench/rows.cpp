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
       .help = "which payloads raw paths are measured with a VLAN tag too; some is the smallest "
               "and the last below 1500, and all of those with --full",
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
       .help = "all payloads, from 50 to 1500 B in steps of 50, 4096 and 8000, however long it "
               "takes"},
      {.key = "measures",
       .kind = text,
       .value_name = "A,B",
       .help = "only these: one-way, round-trip, filter, sockets"},
      {.key = "paths",
       .kind = text,
       .value_name = "A,B",
       .help = "only these paths; an unknown one lists them all"},
      {.key = "payloads",
       .kind = text,
       .value_name = "A,B",
       .help = "bytes of the messages; else 50,200,600,1000,1400,4096,8000"},
      {.key = "seconds",
       .kind = seconds,
       .value_name = "TIME",
       .default_text = "0.1",
       .help = "length of one measurement"},
      runs_flag(
          "runs; in each, every path is measured once with every payload, and a figure is the "
          "median of all; below 5 nothing is decided"),
      {.key = "base",
       .kind = text,
       .value_name = "PATH",
       .default_text = "udp",
       .help = "the path that the others are set beside"},
      {.key = "revision",
       .kind = text,
       .value_name = "TEXT",
       .help = "the version of the source that is measured, for the document and the report"},
      {.key = "buffer",
       .kind = bytes,
       .value_name = "SIZE",
       .default_text = "4MiB",
       .help = "memory of each receiver: its socket buffer or its ring",
       .max = 1U << 28U,
       .min = 4096},
      {.key = "rate",
       .kind = count,
       .value_name = "N",
       .help = "send N messages a second, and show their delay from the time at which each was "
               "meant to be sent",
       .max = 100'000'000},
      {.key = "foreign",
       .kind = count,
       .value_name = "N",
       .default_text = "100000",
       .help = "frames of another EtherType a second, for the measure filter",
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
          .help = "write results.json, report.md and plots there"};
}

option_rows remote_flags() {
  option_rows rows{
      {.key = "host",
       .kind = text,
       .value_name = "[USER@]HOST[:PORT]",
       .help = "the other machine, or its alias in ~/.ssh/config"},
      {.key = "ssh_key",
       .kind = text,
       .value_name = "FILE",
       .help = "private key for it; else those of ssh-agent and of ~/.ssh"},
      {.key = "iface",
       .kind = text,
       .value_name = "IFACE",
       .help = "measure on this interface here"},
      {.key = "remote_iface",
       .kind = text,
       .value_name = "IFACE",
       .help = "and on this one there, which is on the same wire"},
      {.key = "accept_new_host_key",
       .kind = flag,
       .help = "trust a host whose key nobody knows yet, and write it down; never one whose key "
               "has changed"},
      {.key = "known_hosts",
       .kind = text,
       .value_name = "FILE",
       .help = "the host keys that are known; else ~/.ssh/known_hosts"},
      {.key = "sudo_password_fd",
       .kind = count,
       .value_name = "N",
       .help = "read the password that sudo wants there from this descriptor; else from "
               "STRATA_SUDO_PASSWORD, else from the terminal",
       .max = 1U << 20U},
      {.key = "remote_dir",
       .kind = text,
       .value_name = "DIR",
       .help = "make the private folder for the copy in this one there; else in $TMPDIR or /tmp"},
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
                  .help = "of the veth; else 1500, and 9000 for payloads above 1500",
                  .max = 65'535,
                  .min = 576});
  rows.push_back({.key = "peer",
                  .kind = text,
                  .value_name = "HOST:PORT",
                  .help = "where 'strata bench node' is the far end"});
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
       .help = "where 'make -C examples/netlink_exchange OUT=DIR' has built the programs that take "
               "turns; else 'clients' beside this program, or in libexec/strata"},
      {.key = "family",
       .kind = text,
       .value_name = "FAMILY",
       .help = "exchange with this one, of a module that speaks kernel/uapi/strata_echo.h; else "
               "with the kernel's controller"},
      {.key = "times",
       .kind = count,
       .value_name = "N",
       .default_text = "100000",
       .help = "exchanges of one run",
       .max = 1'000'000,
       .min = 1},
      runs_flag("runs of each program, which take turns; below 5 nothing is decided"),
  };
}

}  // namespace

std::vector<verb_row> bench_verbs() {
  return {
      {"bench paths", "", verb_group::ethernet,
       "measure what raw Ethernet, UDP and TCP cost on this machine", 0, 0, run_bench_paths,
       paths_flags()},
      {"bench remote", "", verb_group::ethernet,
       "measure the same between this machine and another, on which it copies and starts the far "
       "end by ssh",
       0, 0, run_bench_remote, remote_flags()},
      {"bench compare",
       "RESULTS.JSON RESULTS.JSON...",
       verb_group::ethernet,
       "several results of 'bench paths' or 'bench remote' in one table: which ratios agree within "
       "their intervals",
       2,
       any_number,
       run_bench_compare,
       {}},
      {"bench netlink", "", verb_group::netlink,
       "measure what one netlink exchange costs by plain C, libnl, neli and this library", 0, 0,
       run_bench_netlink, netlink_flags()},
      {"bench node",
       "IFACE",
       verb_group::ethernet,
       "be the far end of 'bench paths --iface' on another machine; whoever reaches its port can "
       "make it send test frames",
       1,
       1,
       run_bench_node,
       {{.key = "listen",
         .kind = text,
         .value_name = "HOST:PORT",
         .default_text = "0.0.0.0:4790",
         .help = "wait for the bench there"},
        {.key = "stdio",
         .kind = flag,
         .help = "listen nowhere, and talk over standard input and output, as 'bench remote' does"},
        {.key = "once", .kind = flag, .help = "end when the first bench has gone"}}},
  };
}

}  // namespace strata::cli
