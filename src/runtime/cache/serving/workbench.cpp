#include "runtime/cache/serving/workbench.hpp"

#include <cassert>
#include <chrono>
#include <utility>

#include "runtime/cache/serving/loop_clock.hpp"
#include "runtime/cache/serving/session.hpp"
#include "runtime/process_figures.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::cache {

workbench::workbench(loop::loop& loop, const cache_options& options,
                     std::function<void()> on_deadline,
                     std::function<serve::memory_watch::view()> look)
    : loop_(loop),
      on_deadline_(std::move(on_deadline)),
      clock_(make_clock(loop)),
      data_(*clock_),
      memory_(loop, [this] { return this->options().max_memory_connections; }, std::move(look)) {
  auto settings = data_.home().settings();
  settings.options = options;
  settings.heed_options();
  [[maybe_unused]] const auto taken = settings.take_config();
  assert(taken);
  data_.home().configure(std::move(settings));
  data_.home().statistics().set_service([this] { return service(); });
  set_date();
}

service_figures workbench::service() const {
  const auto process = used_processor_time().value_or(processor_time{});
  const auto thread = used_thread_time().value_or(processor_time{});
  const auto resident = resident_bytes().value_or(0);
  // Another allocator does not say more.
  const auto memory = allocator_figures().value_or(allocator_memory{resident, resident, resident});
  return {.backend = loop_.backend(),
          .bytes_in = counters_.bytes_in.get(),
          .bytes_out = counters_.bytes_out.get(),
          .commands_1s = counters_.rate_in.total(second_of(loop_.now()), 1),
          .reads = transfers_.reads,
          .threaded_reads = transfers_.threaded_reads,
          .writes = transfers_.writes,
          .threaded_writes = transfers_.threaded_writes,
          .user_s = thread.user_s,
          .system_s = thread.system_s,
          .resident_bytes = resident,
          .allocated_bytes = memory.allocated,
          .active_bytes = memory.active,
          .allocator_bytes = memory.resident,
          .process_user_s = process.user_s,
          .process_system_s = process.system_s};
}

void workbench::set_date() { date_offset_us_ = clock_->wall_us() - loop_us(); }

proto::request_limits workbench::limits(bool trusted) const {
  const auto& settings = data_.home().settings();
  return {.max_bulk = static_cast<std::uint64_t>(settings.max_bulk),
          .max_buffer = static_cast<std::uint64_t>(settings.max_query_buffer),
          .is_stranger = !trusted};
}

void workbench::begin_work() {
  if (!data_.home().interrupted().is_on()) {
    data_.keys().set_time((loop_us() + date_offset_us_) / 1000);
  }
  charging_.emplace(data_.keys().memory_account());
}

void workbench::end_work() {
  charging_.reset();
  loop_.at_turn_end(*this);
  if (data_.home().next_deadline_ms()) on_deadline_();
}

void workbench::on_turn_end() {
  show_figures();
  replies_.flush();
}

void workbench::release_held() {
  for (auto* each : std::exchange(held_, {})) each->release_durable();
}

void workbench::count_in(std::uint64_t messages) {
  counters_.messages_in.add(messages);
  counters_.rate_in.add(second_of(loop_.now()), messages);
}

void workbench::count_out(std::uint64_t messages, std::uint64_t bytes) {
  counters_.messages_out.add(messages);
  counters_.bytes_out.add(bytes);
  counters_.rate_out.add(second_of(loop_.now()), messages);
  memory_.grew(bytes);
}

}  // namespace strata::runtime::cache
