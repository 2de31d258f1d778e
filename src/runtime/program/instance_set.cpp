#include "runtime/program/instance_set.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::runtime::program {

using namespace std::chrono_literals;

namespace {

constexpr double least_pause_s = 0.5;
constexpr double longest_pause_s = 30;
// An instance that has run for this time is not one that cannot start.
constexpr auto steady_after = 10s;

}  // namespace

instance_set::instance_set(loop::loop& loop, program_options options, const context& context,
                           end_listener on_end)
    : loop_(loop), options_(std::move(options)), context_(context), on_end_(std::move(on_end)) {}

// The port is free now; the program itself takes it.
result<void> instance_set::take_port(net::bind_target& target) {
  auto taken = loop_.listen(target.address, {});
  if (!taken) return std::unexpected(taken.error());
  target.address = loop_.local_address(*taken);
  return {};
}

loop::task<result<void>> instance_set::open(std::vector<net::bind_target>& targets) {
  for (auto& each : targets) {
    if (each.address.port() != 0) continue;
    if (auto taken = take_port(each); !taken) co_return taken;
  }
  loop::task_group starting;
  std::vector<error> failed;
  for (unsigned number = 0; number < options_.instances; ++number) {
    place_values values{.name = context_.name, .port = {}, .instance = number + 1};
    if (number < targets.size()) values.port = std::to_string(targets[number].address.port());
    auto& made = *members_.emplace_back(std::make_unique<member>());
    made.process = std::make_unique<instance>(
        loop_, options_, std::move(values), *context_.log,
        [this](instance& ended, const process::ending& ending) { on_end(ended, ending); });
    starting.spawn(start(made, failed));
  }
  co_await starting.drained();
  if (!failed.empty()) co_return std::unexpected(failed.front());
  is_open_ = true;
  for (const auto& each : members_) {
    if (each->has_ended_early) on_end(*each->process, each->process->last_ending());
  }
  co_return result<void>{};
}

loop::task<> instance_set::start(member& one, std::vector<error>& failed) {
  auto started = co_await one.process->start();
  one.started = loop_.now();
  if (!started) failed.push_back(std::move(started.error()));
}

void instance_set::on_end(instance& ended, const process::ending& ending) {
  if (is_closing_) return;
  const auto found =
      std::ranges::find(members_, &ended, [](const auto& each) { return each->process.get(); });
  auto& one = **found;
  one.has_ended_early = !is_open_;
  if (!is_open_ || one.is_awaiting_restart) return;
  const bool is_wanted =
      options_.restart == "always" || (options_.restart == "on-failure" && !ending.is_success());
  // The daemon restarts a program of one instance, and shows why.
  if (!is_wanted || options_.instances == 1) return end_if_none_is_left(ending);
  if (loop_.now() - one.started >= steady_after) one.pauses.succeeded();
  if (options_.restart_limit != 0 && one.pauses.failures() >= options_.restart_limit) {
    return end_if_none_is_left(ending);
  }
  one.is_awaiting_restart = true;
  restarting_.spawn(restart(one));
}

loop::task<> instance_set::restart(member& one) {
  for (bool is_running = false; !is_running && !is_closing_;) {
    const auto pause = one.pauses.next(least_pause_s, longest_pause_s);
    co_await loop_.sleep(pause);
    ++one.restarts;
    const auto started = co_await one.process->start();
    one.started = loop_.now();
    is_running = started.has_value();
    if (!started) {
      counters_.errors.add();
      context_.log->write(level::error, describe(started.error()),
                          fmt::format("#{}", one.process->values().instance));
    }
    const bool is_last =
        options_.restart_limit != 0 && one.pauses.failures() >= options_.restart_limit;
    if (!is_running && is_last) break;
  }
  one.is_awaiting_restart = false;
  if (!one.process->is_running()) end_if_none_is_left(one.process->last_ending());
}

void instance_set::end_if_none_is_left(const process::ending& last) {
  const bool is_one_left = std::ranges::any_of(members_, [](const auto& each) {
    return each->process->is_running() || each->is_awaiting_restart;
  });
  if (is_one_left || is_closing_) return;
  const bool is_done = std::ranges::all_of(
      members_, [](const auto& each) { return each->process->last_ending().is_success(); });
  on_end_(fmt::format("'{}' has ended with {}", options_.command, last.text()), is_done);
}

loop::task<> instance_set::close(loop::time_point limit) {
  is_closing_ = true;
  restarting_.cancel();
  const auto usual = loop_.now() + loop::from_seconds(options_.grace);
  loop::task_group stopping;
  for (const auto& each : members_) stopping.spawn(each->process->stop(std::min(limit, usual)));
  co_await stopping.drained();
}

std::size_t instance_set::signal(int number) {
  std::size_t reached = 0;
  for (const auto& each : members_) {
    if (!each->process->is_running()) continue;
    each->process->signal(number);
    ++reached;
  }
  return reached;
}

nlohmann::json instance_set::report() const {
  auto all = nlohmann::json::array();
  for (const auto& each : members_) {
    const auto& one = *each->process;
    const bool runs = one.is_running();
    const auto up = std::chrono::duration<double>(loop_.now() - each->started).count();
    all.push_back({{"instance", one.values().instance},
                   {"state", runs                        ? "running"
                             : each->is_awaiting_restart ? "restarting"
                                                         : "ended"},
                   {"pid", runs ? one.process_id() : 0},
                   {"port", one.values().port.empty() ? 0 : std::stoi(one.values().port)},
                   {"uptime_s", runs ? up : 0.0},
                   {"restarts", each->restarts}});
  }
  return all;
}

}  // namespace strata::runtime::program
