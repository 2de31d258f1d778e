#include "runtime/cache/serving/shard.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <nlohmann/json.hpp>

#include "runtime/cache/serving/session.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

// Where more keys have expired than a tick's budget lets go, the next tick comes soon.
constexpr auto soon = 1ms;
constexpr auto budget = 500us;
constexpr std::int64_t between_idle_checks_ms = 1000;

std::int64_t ms_of(loop::duration span) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

}  // namespace

shard::shard(loop::loop& owner, const cache_options& options, serve::connection_gauge& connections,
             std::shared_ptr<journal> log, events told)
    : loop_(owner),
      log_(std::move(log)),
      clock_(make_clock(owner)),
      data_(*clock_),
      turn_(owner, data_.keys()),
      storage_(owner, data_, turn_, {.log = options.persistent, .snapshot = options.snapshot},
               {.begin_work = [this] { begin_work(); },
                .end_work = [this] { end_work(); },
                .on_safe = [this] { release_held(); },
                .on_shut_down = std::move(told.on_shut_down)},
               log_),
      replication_(owner, data_, turn_,
                   {.begin_work = [this] { begin_work(); },
                    .end_work = [this] { end_work(); },
                    .on_new_data = [this] { (void)storage_.rewrite(); }},
                   log_),
      acceptor_(owner, reception(connections)) {
  clock_offset_ms_ = clock_->wall_us() / 1000 - ms_of(loop_.now().time_since_epoch());
  data_.home().settings().options = options;
  data_.home().settings().heed_options();
  data_.home().on_configured(
      [this, told = std::move(told.on_options_set)](const nlohmann::json& changed) {
        if (!changed.empty()) told(changed, edit_);
        arm_timer(usual_tick());
      });
}

// Sessions leave it while its own members are still there.
shard::~shard() {
  acceptor_.stop_listening();
  acceptor_.end_connections();
}

serve::reception shard::reception(serve::connection_gauge& connections) {
  return {
      .connections = connections,
      .most = [this] { return options().max_connections; },
      .serve = [this](auto connection,
                      auto place) { return serve(std::move(connection), std::move(place)); },
      .refusal = "-ERR max number of clients reached\r\n",
      .on_refused =
          [this] {
            counters_.connections_refused.add();
            ++data_.home().counted().rejected;
          },
      .on_trouble =
          [this](const error& why, bool is_new) {
            counters_.errors.add();
            if (is_new) log_->write(level::error, describe(why));
          },
  };
}

result<void> shard::open(std::vector<net::bind_target>& targets) {
  for (auto& each : targets) {
    auto opened = each.url.scheme->listen(loop_, each, {});
    if (!opened) return std::unexpected(opened.error());
    acceptor_.add(std::move(opened->streams));
    if (each.address.port() != 0) replication_.set_own_port(each.address.port());
  }
  acceptor_.begin();
  if (!options().follow.empty()) {
    const auto url = *net::parse_endpoint(options().follow);
    replication_.follow(url.host, url.port);
  }
  key_figures_.copy_from(data_.keys());
  arm_timer(usual_tick());
  return {};
}

loop::task<> shard::close() {
  acceptor_.stop_listening();
  replication_.close();
  // Nothing is to change any more when the log is ended.
  acceptor_.end_connections();
  disarm();
  co_await storage_.close();
}

void shard::release_held() {
  for (auto* each : std::exchange(held_, {})) each->release_durable();
}

void shard::apply(const nlohmann::json& changes, std::uint64_t edit) {
  auto& settings = data_.home().settings();
  [[maybe_unused]] const auto applied = apply_json(settings.options, option_table(), changes);
  assert(applied);
  settings.heed_options();
  edit_ = edit;
}

proto::request_limits shard::limits(bool trusted) const {
  const auto& settings = data_.home().settings();
  return {.max_bulk = static_cast<std::uint64_t>(settings.max_bulk),
          .max_buffer = static_cast<std::uint64_t>(settings.max_query_buffer),
          .is_stranger = !trusted};
}

void shard::begin_work() {
  data_.keys().set_time(ms_of(loop_.now().time_since_epoch()) + clock_offset_ms_);
  charging_.emplace(data_.keys().memory_account());
}

void shard::end_work() {
  charging_.reset();
  loop_.at_turn_end(*this);
  if (data_.home().next_deadline_ms()) arm_timer(usual_tick());
}

loop::duration shard::usual_tick() const { return loop::duration(1s) / data_.home().settings().hz; }

// The next tick: when it is time for one, or when somebody's waiting ends. Never later than it was
// to be.
void shard::arm_timer(loop::duration longest) {
  auto delay = longest;
  if (const auto deadline = data_.home().next_deadline_ms()) {
    const auto left = std::chrono::milliseconds(*deadline - data_.keys().now_ms());
    delay = std::clamp<loop::duration>(left, 0ms, longest);
  }
  if (!armed() || deadline() > loop_.now() + delay) loop_.arm_after(*this, delay);
}

void shard::on_turn_end() {
  key_figures_.copy_from(data_.keys());
  output_.flush();
}

void shard::on_timer() {
  clock_offset_ms_ = clock_->wall_us() / 1000 - ms_of(loop_.now().time_since_epoch());
  begin_work();
  const bool done = data_.tick(budget);
  storage_.tick();
  replication_.tick();
  end_idle_clients();
  end_work();
  arm_timer(done ? usual_tick() : loop::duration(soon));
}

// A client is idle while it sends nothing and takes nothing.
void shard::end_idle_clients() {
  const auto limit_ms = data_.home().settings().idle_timeout_s * 1000;
  const auto now_ms = ms_of(loop_.now().time_since_epoch());
  if (limit_ms == 0 || now_ms < idle_check_ms_) return;
  idle_check_ms_ = now_ms + between_idle_checks_ms;
  for (auto* each : data_.home().clients()) {
    const auto traffic = each->traffic();
    if (std::exchange(each->seen_traffic, traffic) != traffic || each->may_idle()) {
      each->last_active_ms = now_ms;
    } else if (now_ms - each->last_active_ms > limit_ms) {
      each->disconnect(false);
    }
  }
}

void shard::count_in(std::uint64_t messages) {
  counters_.messages_in.add(messages);
  counters_.rate_in.add(second_of(loop_.now()), messages);
}

void shard::count_out(std::uint64_t messages, std::uint64_t bytes) {
  counters_.messages_out.add(messages);
  counters_.bytes_out.add(bytes);
  counters_.rate_out.add(second_of(loop_.now()), messages);
}

loop::task<> shard::serve(std::unique_ptr<net::stream> connection,
                          [[maybe_unused]] serve::connection_gauge::place place) {
  if (const auto interval_s = data_.home().settings().tcp_keepalive_s; interval_s != 0) {
    connection->keep_alive(std::chrono::seconds(interval_s));
  }
  session served(*this, std::move(connection));
  co_await served.run();
}

}  // namespace strata::runtime::cache
