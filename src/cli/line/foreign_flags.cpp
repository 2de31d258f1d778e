#include "cli/line/foreign_flags.hpp"

#include <algorithm>
#include <iterator>

namespace strata::cli {

namespace {

struct foreign_flag {
  std::string_view flag;
  std::string_view type;  // empty: of any type, or of none
  std::string_view here;
};

// The flags of socketley, Redis and HAProxy where they differ from ours. The first row that fits
// counts. docs/from-socketley.md shows those of socketley.
// clang-format off
constexpr foreign_flag rows[] = {
    {"--test", "", "--dry-run"},
    {"-b", "", "`strata tap NAME`, which shows passing messages"},
    {"-bp", "", "`strata tap NAME`, which shows passing messages with their senders"},
    {"-bt", "", "`strata tap NAME`, which shows passing messages with their time"},
    {"-bpt", "", "`strata tap NAME`, which shows passing messages with sender and time"},
    {"--log", "", "`strata logs NAME`, or the daemon's --log-file"},
    {"--max-conn", "", "--max-connections"},
    {"--maxconn", "", "--max-connections"},
    {"--maxclients", "cache", "--max-connections"},
    {"--udp", "client", "--connect udp://HOST:PORT"},
    {"--udp", "", "--listen udp://HOST:PORT"},
    {"--tls", "client", "--connect tls://HOST:PORT"},
    {"--tls", "", "--listen tls://HOST:PORT with --cert and --key"},
    {"--bind", "", "--listen"},
    {"--requirepass", "cache", "--password"},
    {"--maxmemory", "cache", "--max-memory"},
    {"--maxmemory-policy", "cache", "--eviction"},
    {"--mode", "cache", "--access"},
    {"--replicate", "cache", "--follow"},
    {"--replicaof", "cache", "--follow"},
    {"--slaveof", "cache", "--follow"},
    {"--masterauth", "cache", "--follow-password"},
    {"--appendonly", "cache", "--persistent"},
    {"--dbfilename", "cache", "--snapshot"},
    {"--notify-keyspace-events", "cache", "--config notify-keyspace-events=EVENTS"},
    {"--min-replicas-to-write", "cache", "--config min-replicas-to-write=N"},
    {"--slowlog-log-slower-than", "cache", "--config slowlog-log-slower-than=MICROSECONDS"},
    {"--rate-limit", "client", "--global-rate-limit"},
    {"--strategy", "proxy", "--balance"},
    {"--server", "proxy", "--backend"},
    {"--health-check", "proxy", "--check"},
    {"--health-interval", "proxy", "--check-interval"},
    {"--health-path", "proxy", "--check-path"},
    {"--health-threshold", "proxy", "--check-fall"},
    {"--circuit-threshold", "proxy", "--circuit-failures"},
    {"--circuit-timeout", "proxy", "--rest"},
    {"--retry", "proxy", "--retries"},
    {"--retry-all", "proxy", "--retries; requests that may not be repeated are sent once"},
    {"--json", "", "--format json"},
    {"-j", "", "--format json"},
    {"--silent", "", "--quiet"},
};
// clang-format on

}  // namespace

std::optional<std::string_view> counterpart_of(std::string_view flag, std::string_view type) {
  const auto fits = [&](const foreign_flag& row) {
    return row.flag == flag && (row.type.empty() || row.type == type);
  };
  const auto* const found = std::ranges::find_if(rows, fits);
  if (found == std::end(rows)) return std::nullopt;
  return found->here;
}

}  // namespace strata::cli
