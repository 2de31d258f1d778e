#include "runtime/cache/engine/statistics/info.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/front.hpp"
#include "runtime/cache/engine/persistence.hpp"
#include "runtime/cache/engine/replication.hpp"
#include "runtime/cache/engine/scripts/evaluator.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

std::string human(std::int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes < 1 << 10) return fmt::format("{}B", bytes);
  if (bytes < 1 << 20) return fmt::format("{:.2f}K", size / (1 << 10));
  if (bytes < 1 << 30) return fmt::format("{:.2f}M", size / (1 << 20));
  return fmt::format("{:.2f}G", size / (1 << 30));
}

std::string value_of(const parameters& settings, std::string_view name) {
  return settings.find(name).front().second;
}

std::string write_server(front& front) {
  const auto uptime_s = (front.keys().now_ms() - front.started_ms()) / 1000;
  const auto& settings = front.settings();
  return fmt::format(
      "redis_version:{}\r\nredis_mode:standalone\r\nserver_name:strata\r\nstrata_version:{}\r\n"
      "os:Linux\r\narch_bits:64\r\nmultiplexing_api:{}\r\nprocess_id:{}\r\nrun_id:{}\r\n"
      "tcp_port:{}\r\nserver_time_usec:{}\r\nuptime_in_seconds:{}\r\nuptime_in_days:{}\r\nhz:{}\r\n"
      "configured_hz:{}\r\nlru_clock:{}\r\nio_threads_active:{}\r\n",
      settings.version.reported, STRATA_VERSION, front.statistics().service().backend, ::getpid(),
      front.run_id(), settings.port == "0" ? settings.tls_port : settings.port,
      front.keys().clock().wall_us(), uptime_s, uptime_s / 86400, settings.hz, settings.hz,
      front.keys().access_clock() & access_mask, settings.options.threads > 1 ? 1 : 0);
}

std::string write_clients(front& front) {
  std::size_t largest_input = 0;
  std::size_t largest_output = 0;
  for (auto* each : front.clients()) {
    largest_input = std::max(largest_input, each->input_bytes() + each->input_room());
    largest_output = std::max(largest_output, each->output_bytes());
  }
  return fmt::format(
      "connected_clients:{}\r\ncluster_connections:0\r\nmaxclients:{}\r\n"
      "client_recent_max_input_buffer:{}\r\nclient_recent_max_output_buffer:{}\r\n"
      "blocked_clients:{}\r\ntracking_clients:{}\r\nclients_in_timeout_table:{}\r\n",
      front.clients().size(), front.settings().options.max_connections, largest_input,
      largest_output,
      std::ranges::count_if(front.clients(), [](const client* each) { return each->is_held(); }),
      front.trackers().clients(), front.blocked().limited());
}

// The memory of connections, of followers and of other clients.
std::string write_connections(front& front) {
  std::size_t of_followers = 0;
  std::size_t of_others = 0;
  for (auto* each : front.clients()) (each->is_follower ? of_followers : of_others) += each->held();
  const auto kept =
      front.persisted_by() == nullptr ? persistence_figures{} : front.persisted_by()->figures();
  const auto followed =
      front.replicated_by() == nullptr ? replication_figures{} : front.replicated_by()->figures();
  return fmt::format(
      "mem_not_counted_for_evict:{}\r\nmem_replication_backlog:{}\r\nmem_clients_slaves:{}\r\n"
      "mem_clients_normal:{}\r\nmem_aof_buffer:{}\r\n"
      "active_defrag_running:0\r\n",
      followed.backlog_size + of_followers + of_others + kept.log_waiting, followed.backlog_size,
      of_followers, of_others, kept.log_waiting);
}

// Returns what one size of the daemon's memory has more than another.
std::string write_excess(std::string_view name, std::uint64_t larger, std::uint64_t smaller) {
  const auto ratio =
      smaller == 0 ? 0.0 : static_cast<double>(larger) / static_cast<double>(smaller);
  return fmt::format("{}_ratio:{:.2f}\r\n{}_bytes:{}\r\n", name, ratio, name,
                     static_cast<std::int64_t>(larger) - static_cast<std::int64_t>(smaller));
}

std::string write_allocator(const service_figures& service) {
  return fmt::format(
      "allocator_allocated:{}\r\nallocator_active:{}\r\nallocator_resident:{}\r\n{}{}{}{}",
      service.allocated_bytes, service.active_bytes, service.allocator_bytes,
      write_excess("allocator_frag", service.active_bytes, service.allocated_bytes),
      write_excess("allocator_rss", service.allocator_bytes, service.active_bytes),
      write_excess("rss_overhead", service.resident_bytes, service.allocator_bytes),
      write_excess("mem_fragmentation", service.resident_bytes, service.allocated_bytes));
}

// That of a script's text is part of its machine's.
std::string write_scripts(front& front) {
  const auto counted =
      front.scripts() == nullptr ? evaluator::figures{} : front.scripts()->counted();
  const auto memory = counted.script_memory + counted.function_memory;
  return fmt::format(
      "used_memory_vm_eval:{}\r\nused_memory_lua:{}\r\nused_memory_lua_human:{}\r\n"
      "number_of_cached_scripts:{}\r\nnumber_of_functions:{}\r\nnumber_of_libraries:{}\r\n"
      "used_memory_vm_functions:{}\r\nused_memory_vm_total:{}\r\n"
      "used_memory_vm_total_human:{}\r\nused_memory_scripts_eval:0\r\nused_memory_functions:0\r\n"
      "used_memory_scripts:0\r\nused_memory_scripts_human:0B\r\n",
      counted.script_memory, counted.script_memory,
      human(static_cast<std::int64_t>(counted.script_memory)), counted.scripts, counted.functions,
      counted.libraries, counted.function_memory, memory, human(static_cast<std::int64_t>(memory)));
}

std::int64_t machine_memory() { return ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE); }

double percentage(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string write_memory(front& front) {
  const auto& keys = front.keys();
  const auto service = front.statistics().service();
  const auto resident = static_cast<std::int64_t>(service.resident_bytes);
  return fmt::format(
      "used_memory:{}\r\nused_memory_human:{}\r\nused_memory_rss:{}\r\n"
      "used_memory_rss_human:{}\r\nused_memory_peak:{}\r\nused_memory_peak_human:{}\r\n"
      "used_memory_peak_perc:{:.2f}%\r\nused_memory_overhead:0\r\nused_memory_startup:0\r\n"
      "used_memory_dataset:{}\r\nused_memory_dataset_perc:100.00%\r\n{}total_system_memory:{}\r\n"
      "total_system_memory_human:{}\r\n{}maxmemory:{}\r\nmaxmemory_human:{}\r\nmaxmemory_policy:{}"
      "\r\n{}"
      "lazyfree_pending_objects:{}\r\nlazyfreed_objects:{}\r\n",
      keys.memory(), human(keys.memory()), resident, human(resident), keys.peak_memory(),
      human(keys.peak_memory()), percentage(keys.memory(), keys.peak_memory()), keys.memory(),
      write_allocator(service), machine_memory(), human(machine_memory()), write_scripts(front),
      front.settings().maxmemory, human(front.settings().maxmemory),
      value_of(front.settings(), "maxmemory-policy"), write_connections(front),
      keys.values_to_free(), front.keys().counted().freed_later);
}

// Returns for how many seconds something has been written; -1 if it is not.
std::int64_t writing_s(front& front, bool is_written, std::int64_t began_ms) {
  return is_written ? (front.keys().now_ms() - began_ms) / 1000 : -1;
}

std::string_view outcome_name(bool failed) { return failed ? "err" : "ok"; }

std::string write_persistence(front& front) {
  const auto kept =
      front.persisted_by() == nullptr ? persistence_figures{} : front.persisted_by()->figures();
  std::string text = fmt::format(
      "loading:{:d}\r\nasync_loading:0\r\nrdb_changes_since_last_save:{}\r\n"
      "rdb_bgsave_in_progress:{:d}\r\nrdb_last_save_time:{}\r\nrdb_last_bgsave_status:{}\r\n"
      "rdb_last_bgsave_time_sec:{}\r\nrdb_current_bgsave_time_sec:{}\r\n"
      "rdb_last_cow_size:0\r\nrdb_saves:{}\r\nrdb_last_load_keys_loaded:{}\r\n"
      "aof_enabled:{:d}\r\naof_rewrite_in_progress:{:d}\r\naof_rewrite_scheduled:{:d}\r\n"
      "aof_last_rewrite_time_sec:{}\r\naof_current_rewrite_time_sec:{}\r\naof_last_cow_size:0\r\n"
      "module_fork_in_progress:0\r\nmodule_fork_last_cow_size:0\r\n"
      "aof_last_bgrewrite_status:{}\r\naof_rewrites:{}\r\naof_last_write_status:{}\r\n",
      front.availability().is_loading(), front.keys().changes().total() - kept.changes_at_save,
      kept.is_saving, kept.last_save_s, outcome_name(kept.last_save_failed), kept.last_save_took_s,
      writing_s(front, kept.is_saving, kept.writing_began_ms), kept.saves, kept.keys_loaded,
      kept.has_log, kept.is_rewriting, kept.is_rewrite_scheduled, kept.last_rewrite_took_s,
      writing_s(front, kept.is_rewriting, kept.writing_began_ms),
      outcome_name(kept.last_rewrite_failed), kept.rewrites, outcome_name(kept.log_fails));
  if (kept.has_log) {
    fmt::format_to(std::back_inserter(text),
                   "aof_current_size:{}\r\naof_base_size:{}\r\naof_pending_rewrite:{:d}\r\n"
                   "aof_buffer_length:{}\r\naof_pending_bio_fsync:{:d}\r\n"
                   "aof_delayed_fsync:{}\r\n",
                   kept.log_size, kept.log_base_size, kept.is_rewrite_scheduled, kept.log_waiting,
                   kept.is_log_syncing, kept.slow_calls);
  }
  return text;
}

std::string write_stats(front& front) {
  const auto& counted = front.statistics().counted();
  const auto& keys = front.keys().counted();
  const auto& trackers = front.trackers();
  const auto service = front.statistics().service();
  const auto expired_fields = front.settings().knows(version_7_4)
                                  ? fmt::format("expired_subkeys:{}\r\n", keys.expired_fields)
                                  : std::string();
  // Nothing is forked, no module exists, and no active defragmentation.
  return fmt::format(
      "total_connections_received:{}\r\ntotal_commands_processed:{}\r\n"
      "instantaneous_ops_per_sec:{}\r\ntotal_net_input_bytes:{}\r\ntotal_net_output_bytes:{}\r\n"
      "rejected_connections:{}\r\nsync_full:{}\r\nsync_partial_ok:{}\r\nsync_partial_err:{}\r\n"
      "expired_keys:{}\r\n{}expired_stale_perc:{:.2f}\r\nexpired_time_cap_reached_count:{}\r\n"
      "evicted_keys:{}\r\nkeyspace_hits:{}\r\nkeyspace_misses:{}\r\n"
      "pubsub_channels:{}\r\npubsub_patterns:{}\r\npubsubshard_channels:{}\r\n"
      "latest_fork_usec:0\r\ntotal_forks:0\r\nmigrate_cached_sockets:0\r\n"
      "slave_expires_tracked_keys:0\r\nactive_defrag_hits:0\r\nactive_defrag_misses:0\r\n"
      "active_defrag_key_hits:0\r\nactive_defrag_key_misses:0\r\ntracking_total_keys:{}\r\n"
      "tracking_total_items:{}\r\ntracking_total_prefixes:{}\r\nunexpected_error_replies:0\r\n"
      "total_error_replies:{}\r\ndump_payload_sanitizations:{}\r\ntotal_reads_processed:{}\r\n"
      "total_writes_processed:{}\r\nio_threaded_reads_processed:{}\r\n"
      "io_threaded_writes_processed:{}\r\n",
      counted.connections, counted.commands, service.commands_1s, service.bytes_in,
      service.bytes_out, counted.rejected, counted.full_syncs, counted.partial_syncs,
      counted.refused_partials, keys.expired, expired_fields, 100 * keys.expired_part,
      keys.expiry_overruns, keys.evicted, keys.hits, keys.misses,
      front.channels().channels().size(), front.channels().patterns().size(),
      front.channels().shard_channels().size(), trackers.keys(), trackers.items(),
      trackers.prefixes(), counted.errors, keys.checked_payloads, service.reads, service.writes,
      service.threaded_reads, service.threaded_writes);
}

// As in Redis, the size is 0 if the leader has not said it, and what is left then negative.
void write_transfer(std::string& text, const replication_figures& figures) {
  const auto size = static_cast<std::int64_t>(figures.transfer.size);
  const auto received = static_cast<std::int64_t>(figures.transfer.received);
  const double percentage =
      size == 0 ? 0 : 100 * static_cast<double>(received) / static_cast<double>(size);
  fmt::format_to(std::back_inserter(text),
                 "master_sync_total_bytes:{}\r\nmaster_sync_read_bytes:{}\r\n"
                 "master_sync_left_bytes:{}\r\nmaster_sync_perc:{:.2f}\r\n"
                 "master_sync_last_io_seconds_ago:{}\r\n",
                 size, received, size - received, percentage, figures.silent_s);
}

void write_leader(std::string& text, const replication_figures& figures,
                  const parameters& settings) {
  const bool is_up = figures.link_state == "connected";
  const bool is_syncing = figures.link_state == "sync";
  fmt::format_to(std::back_inserter(text),
                 "master_host:{}\r\nmaster_port:{}\r\nmaster_link_status:{}\r\n"
                 "master_last_io_seconds_ago:{}\r\nmaster_sync_in_progress:{:d}\r\n"
                 "slave_read_repl_offset:{}\r\nslave_repl_offset:{}\r\n",
                 figures.leader_host, figures.leader_port, is_up ? "up" : "down",
                 is_up ? figures.silent_s : -1, is_syncing, figures.followed_offset,
                 figures.followed_offset);
  if (is_syncing) write_transfer(text, figures);
  if (!is_up) {
    fmt::format_to(std::back_inserter(text), "master_link_down_since_seconds:{}\r\n",
                   figures.down_s.value_or(-1));
  }
  fmt::format_to(std::back_inserter(text),
                 "slave_priority:{}\r\nslave_read_only:1\r\nreplica_announced:{:d}\r\n",
                 settings.follower_priority, settings.is_announced);
}

std::string write_replication(front& front) {
  const auto now =
      front.replicated_by() == nullptr ? replication_figures{} : front.replicated_by()->figures();
  std::string text = now.is_follower ? "role:slave\r\n" : "role:master\r\n";
  if (now.is_follower) write_leader(text, now, front.settings());
  auto to = std::back_inserter(text);
  fmt::format_to(to, "connected_slaves:{}\r\n", now.followers.size());
  if (front.settings().min_followers > 0) {
    fmt::format_to(to, "min_slaves_good_slaves:{}\r\n", now.prompt_followers);
  }
  for (std::size_t i = 0; i < now.followers.size(); ++i) {
    const auto& each = now.followers[i];
    fmt::format_to(to, "slave{}:ip={},port={},state={},offset={},lag={}\r\n", i, each.address,
                   each.port, each.is_online ? "online" : "wait_bgsave", each.acknowledged,
                   each.lag_s);
  }
  fmt::format_to(to,
                 "master_failover_state:{}\r\nmaster_replid:{}\r\nmaster_replid2:{:0>40}"
                 "\r\nmaster_repl_offset:{}\r\nsecond_repl_offset:{}\r\n"
                 "repl_backlog_active:{:d}\r\nrepl_backlog_size:{}\r\n"
                 "repl_backlog_first_byte_offset:{}\r\nrepl_backlog_histlen:{}\r\n",
                 now.failover_state, now.id, now.previous_id, now.offset,
                 now.previous_id.empty() ? -1 : static_cast<std::int64_t>(now.previous_end),
                 now.backlog_size != 0, front.settings().backlog_size, now.backlog_begin,
                 now.backlog_size);
  return text;
}

std::string write_cpu(front& front) {
  const auto service = front.statistics().service();
  return fmt::format(
      "used_cpu_sys:{:.6f}\r\nused_cpu_user:{:.6f}\r\nused_cpu_sys_children:0.000000\r\n"
      "used_cpu_user_children:0.000000\r\nused_cpu_sys_main_thread:{:.6f}\r\n"
      "used_cpu_user_main_thread:{:.6f}\r\n",
      service.process_system_s, service.process_user_s, service.system_s, service.user_s);
}

std::string write_commandstats(front& front) {
  std::string text;
  for (const auto& each : all_commands()) {
    const auto& counted = front.statistics().counted_commands()[each.index];
    if (counted.calls == 0 && counted.rejected == 0) continue;
    fmt::format_to(std::back_inserter(text),
                   "cmdstat_{}:calls={},usec={},usec_per_call={:.2f},rejected_calls={},"
                   "failed_calls={}\r\n",
                   each.full_name(), counted.calls, counted.us,
                   static_cast<double>(counted.us) /
                       static_cast<double>(std::max<std::uint64_t>(counted.calls, 1)),
                   counted.rejected, counted.failed);
  }
  return text;
}

std::string write_errorstats(front& front) {
  std::string text;
  for (const auto& [code, count] : front.statistics().errors_by_code()) {
    fmt::format_to(std::back_inserter(text), "errorstat_{}:count={}\r\n", code, count);
  }
  return text;
}

std::string write_latencystats(front& front) {
  std::string text;
  for (const auto& each : all_commands()) {
    const auto& times = front.statistics().counted_commands()[each.index].times;
    if (times.calls() == 0) continue;
    fmt::format_to(std::back_inserter(text),
                   "latency_percentiles_usec_{}:p50={:.3f},p99={:.3f},p99.9={:.3f}\r\n",
                   each.full_name(), static_cast<double>(times.most_us(0.5)),
                   static_cast<double>(times.most_us(0.99)),
                   static_cast<double>(times.most_us(0.999)));
  }
  return text;
}

std::string write_cluster(front&) { return "cluster_enabled:0\r\n"; }

std::string write_keyspace(front& front) {
  std::string text;
  for (unsigned i = 0; i < keyspace::database_count; ++i) {
    if (front.keys()[i].size() == 0) continue;
    fmt::format_to(std::back_inserter(text), "db{}:keys={},expires={},avg_ttl=0\r\n", i,
                   front.keys()[i].size(), front.keys()[i].expiring());
  }
  return text;
}

struct section {
  std::string_view name;
  std::string (*write)(front&);
  bool is_default = true;
};

constexpr section sections[] = {
    {"Server", write_server},
    {"Clients", write_clients},
    {"Memory", write_memory},
    {"Persistence", write_persistence},
    {"Stats", write_stats},
    {"Replication", write_replication},
    {"CPU", write_cpu},
    {"Commandstats", write_commandstats, false},
    {"Errorstats", write_errorstats},
    {"Latencystats", write_latencystats, false},
    {"Cluster", write_cluster},
    {"Keyspace", write_keyspace},
};

}  // namespace

std::string write_info(front& front, std::span<const std::string_view> texts) {
  const auto asked = [&](std::string_view name) {
    return std::ranges::any_of(texts,
                               [&](std::string_view each) { return text::same_text(each, name); });
  };
  const bool all = asked("all") || asked("everything");
  const bool usual = texts.empty() || asked("default");
  std::string text;
  for (const auto& each : sections) {
    if (!all && !(usual && each.is_default) && !asked(each.name)) continue;
    if (!text.empty()) text += "\r\n";
    fmt::format_to(std::back_inserter(text), "# {}\r\n{}", each.name, each.write(front));
  }
  return text;
}

}  // namespace strata::runtime::cache
