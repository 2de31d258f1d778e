#include "runtime/cache/engine/statistics/cache_statistics.hpp"

#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/command_info.hpp"

namespace strata::runtime::cache {

namespace {

// Scripts make errors with codes of their own.
constexpr std::size_t most_error_codes = 128;

}  // namespace

cache_statistics::cache_statistics(keyspace& data, const parameters& settings)
    : keys_(data), parameters_(settings), command_counters_(all_commands().size()) {}

void cache_statistics::count_error(std::string_view text) {
  ++counters_.errors;
  const auto code = text.substr(0, text.find(' '));
  const auto known = errors_.find(code);
  if (known != errors_.end()) {
    ++known->second;
  } else if (errors_.size() < most_error_codes) {
    errors_.emplace(code, 1);
  }
}

void cache_statistics::count_time(const client& client, const command& command,
                                  std::span<const std::string_view> words, std::int64_t us) {
  command_counters_[command.index].times.add(static_cast<std::uint64_t>(us));
  // The commands in EXEC are counted individually.
  if (command.row->name == "exec") return;
  note_latency(command.has(flag_fast) ? "fast-command" : "command", us);
  if (parameters_.slow_log_us < 0 || us < parameters_.slow_log_us) return;
  slow_log_.add(keys_.now_ms() / 1000, us, shown_words(command, words), client.remote_address(),
                client.name, static_cast<std::size_t>(parameters_.slow_log_length));
}

void cache_statistics::note_latency(std::string_view event, std::int64_t us) {
  const auto threshold = parameters_.latency_threshold_ms;
  if (threshold > 0 && us / 1000 >= threshold) {
    latency_.add(event, keys_.now_ms() / 1000, us / 1000);
  }
}

service_figures cache_statistics::service() const {
  if (!service_) return {};
  auto figures = service_();
  figures.bytes_in -= service_at_reset_.bytes_in;
  figures.bytes_out -= service_at_reset_.bytes_out;
  figures.reads -= service_at_reset_.reads;
  figures.threaded_reads -= service_at_reset_.threaded_reads;
  figures.writes -= service_at_reset_.writes;
  figures.threaded_writes -= service_at_reset_.threaded_writes;
  return figures;
}

void cache_statistics::reset() {
  counters_ = {};
  errors_.clear();
  keys_.counted() = {};
  for (auto& each : command_counters_) each = {};
  if (service_) service_at_reset_ = service_();
}

}  // namespace strata::runtime::cache
