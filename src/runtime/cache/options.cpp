#include "runtime/cache/options.hpp"

#include "runtime/options/listen_options.hpp"

namespace strata::runtime::cache {

std::vector<std::string> cache_options::endpoints() const {
  return listen_urls(port, local, !cert.empty(), listen);
}

bool cache_options::serves_strangers() const {
  return protected_mode == "no" || !password.empty() || !client_ca.empty();
}

namespace {

using enum options::option_kind;
using row = options::bound_row<cache_options>;

// Each row is one option in two or three lines.
// clang-format off
std::vector<row> client_rows() {
  return {
      {{.key = "resp", .kind = flag,
        .help = "always answer in the Redis protocol; without it, a client that sends plain lines "
                "gets plain text"},
       &cache_options::resp},
      {{.key = "password", .kind = secret, .value_name = "PASSWORD",
        .help = "password that AUTH requires; empty: no password"},
       &cache_options::password},
      {{.key = "user", .kind = list, .value_name = "RULES",
        .help = "user with permissions of its own, as ACL SETUSER takes them: \"alice on "
                "#SHA256 ~app:* +@read\"; repeatable"},
       &cache_options::user},
      {{.key = "acl_file", .value_name = "FILE",
        .help = "read the users from FILE, in Redis's format; ACL LOAD reads it again, ACL SAVE "
                "writes it",
        .needs_restart = true, .reach = options::option_reach::written_path},
       &cache_options::acl_file},
      {{.key = "protected_mode", .kind = choice, .value_name = "yes|no", .default_text = "yes",
        .help = "if there is neither a password nor --client-ca, serve only clients on this "
                "machine",
        .choices = "yes|no"},
       &cache_options::protected_mode},
      {{.key = "access", .kind = choice, .value_name = "WHAT", .default_text = "admin",
        .help = "what clients may do: readonly: read data, readwrite: also change data, admin: "
                "everything",
        .choices = "readonly|readwrite|admin"},
       &cache_options::access},
      {{.key = "redis_version", .kind = choice, .value_name = "VERSION", .default_text = "all",
        .help = "Redis version that HELLO and INFO report; commands of later versions are "
                "unknown; all: report 7.0 and know every command",
        .needs_restart = true, .choices = "all|7.0|7.2|7.4|8.0|8.2|8.4"},
       &cache_options::redis_version},
      {{.key = "config", .kind = list, .value_name = "NAME=VALUE",
        .help = "parameter of CONFIG SET that is no option of its own, such as "
                "notify-keyspace-events=KEA; repeatable",
        .needs_restart = true},
       &cache_options::config},
      {{.key = "max_memory", .kind = bytes, .value_name = "SIZE", .default_text = "0",
        .help = "memory limit of the data; 0 means no limit"},
       &cache_options::max_memory},
      {{.key = "eviction", .kind = choice, .value_name = "POLICY", .default_text = "noeviction",
        .help = "which keys to remove when max-memory is reached; policies as in Redis",
        .choices = "noeviction|allkeys-lru|volatile-lru|allkeys-lfu|volatile-lfu|allkeys-random|"
                   "volatile-random|volatile-ttl",
        .only_with = "max_memory"},
       &cache_options::eviction},
      {{.key = "max_connections", .kind = count, .value_name = "N", .default_text = "0",
        .help = "clients connected at the same time; more are refused; 0 means as many as "
                "the limit of open files permits (ulimit -n)"},
       &cache_options::max_connections},
      {{.key = "max_memory_connections", .kind = bytes, .value_name = "SIZE",
        .default_text = "1GiB",
        .help = "memory for unfinished input and waiting output of all clients; beyond it, the "
                "clients whose last message is oldest are disconnected; 0 means no limit"},
       &cache_options::max_memory_connections},
      {{.key = "rate_limit", .kind = count, .value_name = "N", .default_text = "0",
        .help = "commands per second of one connection; more wait; 0 means no limit"},
       &cache_options::rate_limit},
      {{.key = "global_rate_limit", .kind = count, .value_name = "N", .default_text = "0",
        .help = "commands per second of all connections together; more wait; 0 means no limit"},
       &cache_options::global_rate_limit},
  };
}

std::vector<row> data_rows() {
  return {
      {{.key = "follow", .value_name = "URL",
        .help = "replicate the cache or Redis at tcp://HOST:PORT or tls://HOST:PORT, or the cache "
                "runtime://NAME; the data of this cache is then read-only",
        .needs_restart = true, .reach = options::option_reach::connecting},
       &cache_options::follow},
      {{.key = "follow_user", .value_name = "NAME",
        .help = "user to log in as at the leader that --follow names; empty: its default user",
        .only_with = "follow"},
       &cache_options::follow_user},
      {{.key = "follow_password", .kind = secret, .value_name = "PASSWORD",
        .help = "password of the leader that --follow names",
        .only_with = "follow"},
       &cache_options::follow_password},
      {{.key = "persistent", .value_name = "FILE",
        .help = "append each change to FILE, and load the data from FILE at startup",
        .needs_restart = true, .reach = options::option_reach::written_path},
       &cache_options::persistent},
      {{.key = "appendfsync", .kind = choice, .value_name = "WHEN", .default_text = "everysec",
        .help = "when to sync appended changes to disk, which protects them from a crash of the "
                "machine",
        .choices = "always|everysec|no",
        .only_with = "persistent"},
       &cache_options::appendfsync},
      {{.key = "snapshot", .value_name = "FILE",
        .help = "load this snapshot (RDB file) at startup if it exists; SAVE writes it",
        .needs_restart = true, .reach = options::option_reach::written_path},
       &cache_options::snapshot},
      {{.key = "save", .value_name = "RULES",
        .help = "write the snapshot automatically: \"3600 1 60 1000\" means after 3600 s if at "
                "least 1 change was made, after 60 s if at least 1000 were made"},
       &cache_options::save},
      {{.key = "drain_timeout", .kind = seconds, .value_name = "TIME", .default_text = "30",
        .help = "maximum time that a stop waits for a client's script to end, for the snapshot, "
                "and for the script of --lua to accept changes"},
       &cache_options::drain_timeout},
  };
}
// clang-format on

}  // namespace

const std::vector<options::bound_row<cache_options>>& option_table() {
  static const auto table = [] {
    auto all = listen_rows<cache_options>(streams_help);
    all.push_back(threads_row<cache_options>(
        "event loops that serve clients; one of them also executes their commands"));
    for (const auto& more :
         {client_rows(), data_rows(), tls_server_rows<cache_options>(),
          tls_client_rows<cache_options>({.only_with = "follow"}), script_rows<cache_options>()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return with_runtime_options(std::move(all));
  }();
  return table;
}

nlohmann::json changed_options(const cache_options& options, const cache_options& destination) {
  return options::changed_options(options, destination, option_table());
}

const std::vector<options::option_row>& option_rows() {
  static const auto rows = rows_of(option_table());
  return rows;
}

}  // namespace strata::runtime::cache
