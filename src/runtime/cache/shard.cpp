#include "runtime/cache/shard.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "runtime/cache/session.hpp"

namespace strata::runtime {

using namespace std::chrono_literals;

namespace {

constexpr auto usual_tick = 100ms;
// Where more keys have expired than a tick's budget lets go, the next tick comes soon.
constexpr auto soon = 1ms;
constexpr auto budget = 500us;
// Who comes too many is told so; of a flood, only so many at a time.
constexpr std::size_t most_refusing = 64;

std::int64_t ms_of(loop::duration span) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

// Ends a connection at a point in time.
class ending final : public loop::timer {
 public:
  explicit ending(net::stream& of) : of_(of) {}

 private:
  void on_timer() override { of_.abort(); }

  net::stream& of_;
};

std::int64_t wall_clock_ms() { return ms_of(std::chrono::system_clock::now().time_since_epoch()); }

}  // namespace

cache_shard::cache_shard(loop::loop& owner, cache_options options, connection_gauge& connections,
                         std::shared_ptr<journal> log, std::function<void()> on_shut_down)
    : loop_(owner),
      options_(std::move(options)),
      connections_(connections),
      log_(std::move(log)),
      storage_(owner, data_, {.log = options_.persistent, .snapshot = options_.snapshot},
               {.begin_work = [this] { begin_work(); },
                .end_work = [this] { end_work(); },
                .on_safe = [this] { release_held(); },
                .on_shut_down = std::move(on_shut_down)},
               log_),
      replication_(owner, data_,
                   {.begin_work = [this] { begin_work(); },
                    .end_work = [this] { end_work(); },
                    .on_new_data = [this] { (void)storage_.rewrite(); }},
                   log_) {
  clock_offset_ms_ = wall_clock_ms() - ms_of(loop_.now().time_since_epoch());
  apply(options_);
}

cache_shard::~cache_shard() {
  listening_.cancel();
  serving_.cancel();
}

result<void> cache_shard::open(std::vector<bind_target>& targets) {
  for (auto& each : targets) {
    auto listening = loop_.listen(each.address, {});
    if (!listening) return std::unexpected(listening.error());
    if (each.url.kind == net::scheme::tcp) each.address = loop_.local_address(*listening);
    if (each.url.kind == net::scheme::unix_stream) socket_files_.emplace_back(each.url.path);
    listeners_.emplace_back(loop_, std::move(*listening));
  }
  for (auto& each : listeners_) listening_.spawn(accept_all(each));
  for (const auto& each : targets) {
    if (each.url.kind == net::scheme::tcp) replication_.set_own_port(each.address.port());
  }
  if (!options_.follow.empty()) {
    const auto url = *net::parse_endpoint(options_.follow);
    replication_.follow(url.host, url.port);
  }
  arm_timer(usual_tick);
  return {};
}

loop::task<> cache_shard::close() {
  listening_.cancel();
  socket_files_.clear();
  listeners_.clear();
  replication_.close();
  // Nothing is to change any more when the log is ended.
  serving_.cancel();
  disarm();
  co_await storage_.close();
}

void cache_shard::release_held() {
  for (auto* each : std::exchange(held_, {})) each->settle();
}

void cache_shard::apply(const cache_options& changed) {
  options_ = changed;
  auto& settings = data_.settings();
  settings.password = changed.password;
  settings.maxmemory = static_cast<std::int64_t>(changed.max_memory);
  (void)settings.set("maxmemory-policy", changed.eviction);
  settings.leader_password = changed.follow_password;
  settings.append_sync = changed.appendfsync;
  settings.save = changed.save;
  settings.append_only = !changed.persistent.empty();
  const std::filesystem::path log(changed.persistent);
  const std::filesystem::path snapshot(changed.snapshot);
  settings.log_file = log.filename();
  settings.snapshot_file = snapshot.filename();
  settings.directory = (snapshot.empty() ? log : snapshot).parent_path();
  settings.access = permission_of(changed.access);
  if (changed.max_connections != 0) {
    settings.max_clients = static_cast<std::int64_t>(changed.max_connections);
  }
}

proto::request_limits cache_shard::limits(bool trusted) const {
  const auto& settings = const_cast<engine&>(data_).settings();
  return {.max_bulk = static_cast<std::uint64_t>(settings.max_bulk),
          .max_buffer = static_cast<std::uint64_t>(settings.max_query_buffer),
          .is_stranger = !trusted};
}

void cache_shard::begin_work() {
  data_.set_time(ms_of(loop_.now().time_since_epoch()) + clock_offset_ms_);
  charging_.emplace(data_.memory_account());
}

void cache_shard::end_work() {
  charging_.reset();
  loop_.at_turn_end(*this);
  if (data_.next_deadline_ms()) arm_timer(usual_tick);
}

// The next tick: when it is time for one, or when somebody's waiting ends. Never later than it was
// to be.
void cache_shard::arm_timer(loop::duration longest) {
  auto delay = longest;
  if (const auto deadline = data_.next_deadline_ms()) {
    const auto left = std::chrono::milliseconds(*deadline - data_.now_ms());
    delay = std::clamp<loop::duration>(left, 0ms, longest);
  }
  if (!armed() || deadline() > loop_.now() + delay) loop_.arm_after(*this, delay);
}

void cache_shard::on_timer() {
  clock_offset_ms_ = wall_clock_ms() - ms_of(loop_.now().time_since_epoch());
  begin_work();
  const bool done = data_.tick(budget);
  storage_.tick();
  replication_.tick();
  end_work();
  arm_timer(done ? loop::duration(usual_tick) : loop::duration(soon));
}

loop::task<> cache_shard::accept_all(net::listener& from) {
  bool failing = false;
  for (;;) {
    auto connection = co_await from.accept();
    if (connection) {
      failing = false;
      if (connections_.enter(options_.max_connections)) {
        serving_.spawn(serve(std::move(*connection)));
      } else {
        counters_.refused.add();
        ++data_.counted().rejected;
        if (refusing_ < most_refusing) serving_.spawn(refuse(std::move(*connection)));
      }
      continue;
    }
    // No descriptor or memory is left: those who wait stay in the kernel's queue meanwhile.
    counters_.errors.add();
    if (!failing) log_->write(level::error, describe(connection.error()));
    failing = true;
    co_await loop_.sleep(100ms);
  }
}

loop::task<> cache_shard::serve(loop::socket connection) {
  cache_session served(*this, std::move(connection));
  co_await served.run();
  connections_.leave();
}

// What it says meanwhile is read: closing while something is unread makes the kernel send a reset,
// which may overtake the words.
loop::task<> cache_shard::refuse(loop::socket connection) {
  ++refusing_;
  net::stream refused(loop_, std::move(connection));
  ending limit(refused);
  loop_.arm_after(limit, 1s);
  refused.out().push_copy(as_bytes("-ERR max number of clients reached\r\n"));
  while (!refused.out().empty() && refused.out().broken() == 0 && limit.armed()) {
    co_await loop_.sleep(1ms);
  }
  refused.end_sending();
  for (;;) {
    const auto said = co_await refused.receive();
    if (!said || said->empty()) break;
  }
  --refusing_;
}

}  // namespace strata::runtime
