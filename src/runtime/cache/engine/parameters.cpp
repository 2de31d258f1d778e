#include "runtime/cache/engine/parameters.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <variant>

#include "runtime/cache/engine/save_rules.hpp"
#include "text/pattern.hpp"
#include "text/redis_number.hpp"
#include "text/utf8.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

enum class kind : std::uint8_t {
  number,
  memory,
  text,
  address,
  flag,
  policy,
  events,
  sync,
  rules,
  channels,
  output,
  guarded,
  leader,
  fixed
};

using member = std::variant<std::monostate, std::int64_t parameters::*, std::string parameters::*,
                            bool parameters::*>;

struct row {
  std::string_view name;
  kind how = kind::number;
  member where = {};
  std::int64_t min = 0;
  std::int64_t max = INT64_MAX;
  std::string_view fixed = {};
  std::string_view option = {};  // the key of the corresponding option
};

constexpr std::size_t longest_address = 255;

constexpr std::array<std::string_view, 8> policies = {
    "noeviction",   "allkeys-lru",    "volatile-lru",    "allkeys-lfu",
    "volatile-lfu", "allkeys-random", "volatile-random", "volatile-ttl"};

using p = parameters;

// clang-format off
const row table[] = {
    {"maxmemory", kind::memory, {}, 0, INT64_MAX, {}, "max_memory"},
    {"maxmemory-policy", kind::policy, {}, 0, 0, {}, "eviction"},
    {"maxmemory-samples", kind::number, &p::maxmemory_samples, 1, 64},
    {"lfu-log-factor", kind::number, &p::lfu_log_factor, 0, INT32_MAX},
    {"lfu-decay-time", kind::number, &p::lfu_decay_minutes, 0, INT32_MAX},
    {"hash-max-listpack-entries", kind::number, &p::hash_max_pack_entries},
    {"hash-max-ziplist-entries", kind::number, &p::hash_max_pack_entries},
    {"hash-max-listpack-value", kind::memory, &p::hash_max_pack_value},
    {"hash-max-ziplist-value", kind::memory, &p::hash_max_pack_value},
    {"set-max-intset-entries", kind::number, &p::set_max_integers},
    {"zset-max-listpack-entries", kind::number, &p::sorted_set_max_pack_entries},
    {"zset-max-ziplist-entries", kind::number, &p::sorted_set_max_pack_entries},
    {"zset-max-listpack-value", kind::memory, &p::sorted_set_max_pack_value},
    {"zset-max-ziplist-value", kind::memory, &p::sorted_set_max_pack_value},
    {"hll-sparse-max-bytes", kind::memory, &p::hyper_log_log_max_sparse_bytes},
    {"list-max-listpack-size", kind::number, &p::list_max_pack_size, INT32_MIN, INT32_MAX},
    {"list-max-ziplist-size", kind::number, &p::list_max_pack_size, INT32_MIN, INT32_MAX},
    {"stream-node-max-bytes", kind::memory, &p::stream_max_block_bytes},
    {"stream-node-max-entries", kind::number, &p::stream_max_block_entries},
    {"slowlog-log-slower-than", kind::number, &p::slow_log_us, -1},
    {"slowlog-max-len", kind::number, &p::slow_log_length},
    {"busy-reply-threshold", kind::number, &p::busy_threshold_ms},
    {"lua-time-limit", kind::number, &p::busy_threshold_ms},
    {"latency-monitor-threshold", kind::number, &p::latency_threshold_ms},
    {"latency-tracking", kind::flag, &p::latency_tracking},
    {"tracking-table-max-keys", kind::number, &p::tracking_max_keys},
    {"proto-max-bulk-len", kind::memory, &p::max_bulk, 1 << 20},
    {"client-query-buffer-limit", kind::memory, &p::max_query_buffer, 1 << 20},
    {"client-output-buffer-limit", kind::output},
    {"maxclients", kind::number, {}, 0, UINT32_MAX, {}, "max_connections"},
    {"maxmemory-clients", kind::memory, {}, 0, INT64_MAX, {}, "max_memory_connections"},
    {"port", kind::guarded, &p::port},
    {"tls-port", kind::guarded, &p::tls_port},
    {"bind", kind::guarded, &p::addresses},
    {"unixsocket", kind::guarded, &p::unix_socket},
    {"timeout", kind::number, &p::idle_timeout_s, 0, INT32_MAX},
    {"tcp-keepalive", kind::number, &p::tcp_keepalive_s, 0, INT32_MAX},
    {"hz", kind::number, &p::hz, 1, 500},
    {"notify-keyspace-events", kind::events},
    {"requirepass", kind::text, {}, 0, 0, {}, "password"},
    {"dir", kind::guarded, &p::directory},
    {"dbfilename", kind::guarded, &p::snapshot_file},
    {"appendfilename", kind::guarded, &p::log_file},
    {"save", kind::rules, {}, 0, 0, {}, "save"},
    {"appendonly", kind::guarded, &p::append_only},
    {"auto-aof-rewrite-percentage", kind::number, &p::rewrite_percentage, 0, INT32_MAX},
    {"auto-aof-rewrite-min-size", kind::memory, &p::rewrite_min_size},
    {"stop-writes-on-bgsave-error", kind::flag, &p::stop_writes_on_save_error},
    {"aof-use-rdb-preamble", kind::fixed, {}, 0, 0, "yes"},
    {"rdbcompression", kind::fixed, {}, 0, 0, "yes"},
    {"rdbchecksum", kind::fixed, {}, 0, 0, "yes"},
    {"appendfsync", kind::sync, {}, 0, 0, {}, "appendfsync"},
    {"lazyfree-lazy-expire", kind::flag, &p::lazy_expire},
    {"lazyfree-lazy-user-del", kind::flag, &p::lazy_delete},
    {"lazyfree-lazy-user-flush", kind::flag, &p::lazy_flush},
    {"activerehashing", kind::flag, &p::active_rehashing},
    {"acl-pubsub-default", kind::channels, &p::new_user_channels},
    {"acllog-max-len", kind::number, &p::acl_log_length, 0, INT32_MAX},
    {"aclfile", kind::guarded, &p::acl_file},
    {"masteruser", kind::text, {}, 0, 0, {}, "follow_user"},
    {"masterauth", kind::text, {}, 0, 0, {}, "follow_password"},
    {"repl-backlog-size", kind::memory, &p::backlog_size, 16 << 10},
    {"repl-timeout", kind::number, &p::replication_timeout_s, 1, INT32_MAX},
    {"repl-ping-replica-period", kind::number, &p::replication_ping_s, 1, INT32_MAX},
    {"repl-ping-slave-period", kind::number, &p::replication_ping_s, 1, INT32_MAX},
    {"replica-read-only", kind::fixed, {}, 0, 0, "yes"},
    {"slave-read-only", kind::fixed, {}, 0, 0, "yes"},
    {"replica-serve-stale-data", kind::flag, &p::serves_stale_data},
    {"slave-serve-stale-data", kind::flag, &p::serves_stale_data},
    {"replicaof", kind::leader},
    {"slaveof", kind::leader},
    {"replica-priority", kind::number, &p::follower_priority, 0, INT32_MAX},
    {"slave-priority", kind::number, &p::follower_priority, 0, INT32_MAX},
    {"replica-announce-ip", kind::address, &p::announced_address},
    {"slave-announce-ip", kind::address, &p::announced_address},
    {"replica-announce-port", kind::number, &p::announced_port, 0, 65535},
    {"slave-announce-port", kind::number, &p::announced_port, 0, 65535},
    {"replica-announced", kind::flag, &p::is_announced},
    {"min-replicas-to-write", kind::number, &p::min_followers, 0, INT32_MAX},
    {"min-slaves-to-write", kind::number, &p::min_followers, 0, INT32_MAX},
    {"min-replicas-max-lag", kind::number, &p::max_follower_lag_s, 0, INT32_MAX},
    {"min-slaves-max-lag", kind::number, &p::max_follower_lag_s, 0, INT32_MAX},
    {"protected-mode", kind::guarded, {}, 0, 0, {}, "protected_mode"},
    {"databases", kind::fixed, {}, 0, 0, "16"},
    {"cluster-enabled", kind::fixed, {}, 0, 0, "no"},
    {"io-threads", kind::guarded, &p::threads},
    {"io-threads-do-reads", kind::fixed, {}, 0, 0, "no"},
    {"daemonize", kind::fixed, {}, 0, 0, "no"},
    {"supervised", kind::fixed, {}, 0, 0, "no"},
    {"tcp-backlog", kind::fixed, {}, 0, 0, "511"},
    {"logfile", kind::fixed},
    {"pidfile", kind::fixed},
    {"syslog-enabled", kind::fixed, {}, 0, 0, "no"},
    {"always-show-logo", kind::fixed, {}, 0, 0, "no"},
    {"appenddirname", kind::fixed, {}, 0, 0, "appendonlydir"},
};
// clang-format on

constexpr std::string_view event_letters = "KEg$lshzxetdmn";
constexpr std::uint32_t all_events = event_generic | event_string | event_list | event_set |
                                     event_hash | event_zset | event_expired | event_evicted |
                                     event_stream | event_module;

std::optional<std::uint32_t> parse_events(std::string_view text) {
  std::uint32_t events = 0;
  for (const char each : text) {
    const auto at = event_letters.find(each);
    if (each == 'A') {
      events |= all_events;
    } else if (at == std::string_view::npos) {
      return {};
    } else {
      events |= 1U << at;
    }
  }
  return events;
}

std::string format_events(std::uint32_t events) {
  std::string text;
  const bool all = (events & all_events) == all_events;
  if (all) text += 'A';
  for (std::size_t i = 0; i < event_letters.size(); ++i) {
    const auto bit = 1U << i;
    if ((events & bit) != 0 && !(all && (all_events & bit) != 0)) text += event_letters[i];
  }
  // Redis writes K and E after the classes.
  std::ranges::stable_partition(text, [](char each) { return each != 'K' && each != 'E'; });
  return text;
}

bool same(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

std::unexpected<error> refuse(std::string_view name, std::string_view why) {
  return failure(errc::invalid_argument, "set '" + std::string(name) + "'",
                 "CONFIG SET failed (possibly related to argument '" + std::string(name) + "') - " +
                     std::string(why));
}

std::string option_text(const cache_options& options, std::string_view key) {
  const auto value = to_json(options, option_table(), true).at(std::string(key));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Returns "host port", in Redis's format.
std::string leader_text(const std::string& url) {
  constexpr std::string_view by_name = "runtime://";
  if (url.starts_with(by_name)) return url.substr(by_name.size()) + " 0";
  const auto colon = url.rfind(':');
  if (colon == std::string::npos) return {};
  const auto begin = url.find("://") + 3;
  auto host = url.substr(begin, colon - begin);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host + " " + url.substr(colon + 1);
}

std::string text_of(const parameters& parameters, const row& row) {
  if (!row.option.empty()) return option_text(parameters.options, row.option);
  switch (row.how) {
    case kind::events: return format_events(parameters.events);
    case kind::fixed: return std::string(row.fixed);
    case kind::leader: return leader_text(parameters.options.follow);
    case kind::output: return parameters.output_buffer_limits.text();
    case kind::flag:
    case kind::address:
    case kind::channels:
    case kind::guarded:
      if (const auto* const flag = std::get_if<bool p::*>(&row.where)) {
        return parameters.**flag ? "yes" : "no";
      }
      return parameters.*std::get<std::string p::*>(row.where);
    default: return std::to_string(parameters.*std::get<std::int64_t p::*>(row.where));
  }
}

result<void> set_option(parameters& parameters, const row& row, const nlohmann::json& value) {
  // Options are shown and stored as JSON, which is UTF-8.
  if (value.is_string() && !text::is_utf8(value.get_ref<const std::string&>())) {
    return refuse(row.name, "argument must be UTF-8: the parameter is an option of the cache");
  }
  if (row.how == kind::text && options::is_reference(value.get_ref<const std::string&>())) {
    return refuse(row.name, "argument must be the password itself, not a credential's name");
  }
  const nlohmann::json changes = {{std::string(row.option), value}};
  if (auto set = apply_json(parameters.options, option_table(), changes); !set) {
    return refuse(row.name, set.error().reason);
  }
  parameters.heed_options();
  return {};
}

result<void> set_number(parameters& parameters, const row& row, std::string_view value) {
  const bool is_memory = row.how == kind::memory;
  const auto number = is_memory ? text::parse_memory(value) : text::parse_integer(value);
  if (!number) {
    return refuse(row.name, is_memory ? "argument must be a memory value"
                                      : "argument couldn't be parsed into an integer");
  }
  if (*number < row.min || *number > row.max) {
    return refuse(row.name, "argument must be between " + std::to_string(row.min) + " and " +
                                std::to_string(row.max) + " inclusive");
  }
  if (!row.option.empty()) return set_option(parameters, row, *number);
  parameters.*std::get<std::int64_t p::*>(row.where) = *number;
  return {};
}

result<void> set_rules(parameters& parameters, const row& row, std::string_view value) {
  const auto rules = save_rules::parse(value);
  if (!rules) return refuse(row.name, "Invalid save parameters");
  if (!rules->empty() && parameters.options.snapshot.empty()) {
    return refuse(row.name, "no snapshot file is configured: start the cache with --snapshot FILE");
  }
  return set_option(parameters, row, rules->empty() ? "" : value);
}

result<void> set_flag(parameters& parameters, const row& row, std::string_view value) {
  if (!same(value, "yes") && !same(value, "no")) {
    return refuse(row.name, "argument must be 'yes' or 'no'");
  }
  parameters.*std::get<bool p::*>(row.where) = same(value, "yes");
  return {};
}

// A follower's announced address becomes part of a line of its leader's INFO.
result<void> set_address(parameters& parameters, const row& row, std::string_view value) {
  if (value.size() > longest_address || !text::is_visible(value)) {
    return refuse(row.name, "argument must be an IP address or a host name");
  }
  parameters.*std::get<std::string p::*>(row.where) = value;
  return {};
}

result<void> set_channels(parameters& parameters, const row& row, std::string_view value) {
  if (!same(value, "allchannels") && !same(value, "resetchannels")) {
    return refuse(row.name, "argument(s) must be one of the following: allchannels, resetchannels");
  }
  parameters.*std::get<std::string p::*>(row.where) = text::in_small_letters(value);
  return {};
}

result<void> set_sync(parameters& parameters, const row& row, std::string_view value) {
  if (value != "always" && value != "everysec" && value != "no") {
    return refuse(row.name, "argument(s) must be one of the following: everysec, always, no");
  }
  return set_option(parameters, row, value);
}

const std::string_view* find_policy(std::string_view name) {
  return std::ranges::find_if(policies, [&](std::string_view each) { return same(each, name); });
}

result<void> set_policy(parameters& parameters, const row& row, std::string_view value) {
  const auto* const found = find_policy(value);
  if (found == policies.end()) {
    return refuse(row.name,
                  "argument(s) must be one of the following: volatile-lru, volatile-lfu, "
                  "volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, "
                  "noeviction");
  }
  return set_option(parameters, row, *found);
}

result<void> set_events(parameters& parameters, const row& row, std::string_view value) {
  const auto events = parse_events(value);
  if (!events) {
    return refuse(row.name, "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
  }
  parameters.events = *events;
  return {};
}

result<void> set_row(parameters& parameters, const row& row, std::string_view value) {
  switch (row.how) {
    case kind::fixed:
    case kind::leader: return refuse(row.name, "can't set immutable config");
    case kind::guarded:
      return refuse(row.name,
                    "can't set protected config: the parameter is an option of the cache, see "
                    "'strata create cache --help'");
    case kind::rules: return set_rules(parameters, row, value);
    case kind::text: return set_option(parameters, row, value);
    case kind::address: return set_address(parameters, row, value);
    case kind::flag: return set_flag(parameters, row, value);
    case kind::channels: return set_channels(parameters, row, value);
    case kind::sync: return set_sync(parameters, row, value);
    case kind::policy: return set_policy(parameters, row, value);
    case kind::events: return set_events(parameters, row, value);
    case kind::output:
      if (const auto wrong = parameters.output_buffer_limits.set(value))
        return refuse(row.name, *wrong);
      return {};
    default: return set_number(parameters, row, value);
  }
}

// Null if there is none.
const row* find_row(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(table, [name](const row& each) { return same(each.name, name); });
  return found == std::end(table) ? nullptr : found;
}

// Whether the cache has it as an option of its own, which alone holds its value.
bool is_option(const row& row) {
  return !row.option.empty() || row.how == kind::guarded || row.how == kind::leader;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> parameters::find(
    std::string_view pattern) const {
  std::vector<std::pair<std::string_view, std::string>> found;
  for (const auto& each : table) {
    if (text::matches_pattern(pattern, each.name, true))
      found.emplace_back(each.name, text_of(*this, each));
  }
  for (auto& each : idle.find(pattern)) found.push_back(std::move(each));
  return found;
}

std::vector<std::string> parameters::changed_settings() const {
  const parameters usual;
  std::vector<std::string> found;
  std::vector<member> places;
  for (const auto& each : table) {
    if (is_option(each)) continue;
    const auto value = text_of(*this, each);
    if (value == text_of(usual, each)) continue;
    // Some parameters have two names.
    const bool has_place = each.where.index() != 0;
    if (has_place && std::ranges::find(places, each.where) != places.end()) continue;
    places.push_back(each.where);
    found.push_back(std::string(each.name) + "=" + value);
  }
  for (const auto& [name, value] : idle.changed()) {
    found.push_back(std::string(name) + "=" + value);
  }
  return found;
}

result<void> parameters::take_config() {
  for (const auto& each : options.config) {
    const auto name = std::string_view(each).substr(0, each.find('='));
    const auto operation = "use '" + each + "' as --config";
    if (name.size() == each.size()) {
      return failure(errc::invalid_argument, operation, "it is not NAME=VALUE",
                     "write it as notify-keyspace-events=KEA");
    }
    const auto* const row = find_row(name);
    if (row != nullptr && is_option(*row)) {
      return failure(errc::invalid_argument, operation, "the parameter is an option of the cache",
                     row->option.empty() ? "see 'strata create cache --help'"
                                         : "use " + options::long_flag({.key = row->option}));
    }
    if (auto done = set(name, each.substr(name.size() + 1)); !done) {
      return failure(errc::invalid_argument, operation, done.error().reason,
                     "'CONFIG GET *' lists the parameters");
    }
  }
  return {};
}

void parameters::heed_options() {
  maxmemory = static_cast<std::int64_t>(std::min<std::uint64_t>(options.max_memory, INT64_MAX));
  policy = static_cast<eviction>(find_policy(options.eviction) - policies.begin());
  access = permission_of(options.access);
  version = find_version(options.redis_version);
  const std::filesystem::path log(options.persistent);
  const std::filesystem::path snapshot(options.snapshot);
  append_only = !options.persistent.empty();
  log_file = log.filename();
  snapshot_file = snapshot.filename();
  acl_file = options.acl_file;
  threads = std::to_string(options.threads);
  directory = (snapshot.empty() ? log : snapshot).parent_path();
}

result<void> parameters::set(std::string_view name, std::string_view value) {
  if (const auto* const row = find_row(name)) return set_row(*this, *row, value);
  if (idle_parameters::knows(name)) {
    if (auto set = idle.set(name, value); !set) return refuse(name, set.error().reason);
    return {};
  }
  return failure(
      errc::not_found, "set a parameter",
      "Unknown option or number of arguments for CONFIG SET - '" + std::string(name) + "'");
}

}  // namespace strata::runtime::cache
