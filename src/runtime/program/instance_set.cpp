#include "runtime/program/instance_set.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "runtime/program/outside_process.hpp"
#include "runtime/program/own_process.hpp"
#include "text/number.hpp"

namespace strata::runtime::program {

using namespace std::chrono_literals;

namespace {

constexpr double least_pause_s = 0.5;
constexpr double longest_pause_s = 30;
// An instance that has run for this time is not one that cannot start.
constexpr auto steady_after = 10s;

}  // namespace

instance_set::instance_set(loop::loop& loop, program_options options, const context& context,
                           const std::atomic<bool>& hurried, std::atomic<bool>& keeps_processes,
                           listeners listeners)
    : loop_(loop),
      options_(std::move(options)),
      context_(context),
      hurried_(hurried),
      keeps_processes_(keeps_processes),
      listeners_(std::move(listeners)) {}

// Without --keep-socket the port is only found free: the program itself takes it.
result<void> instance_set::take_port(net::bind_target& target, member& member) {
  if (member.is_adopted) {
    const auto port = text::number_in<std::uint16_t>(member.process->values().port);
    target.address.set_port(port.value_or(0));
    return {};
  }
  if (!options_.keep_socket && target.address.port() != 0) return {};
  auto socket = loop_.listen(target.address, {});
  if (!socket) return std::unexpected(socket.error());
  target.address = loop_.local_address(*socket);
  if (!options_.keep_socket) return {};
  // A program that is handed a socket awaits one that blocks.
  ::fcntl(socket->fd(), F_SETFL, ::fcntl(socket->fd(), F_GETFL) & ~O_NONBLOCK);
  member.process->hand_over(std::move(*socket));
  return {};
}

loop::task<result<void>> instance_set::open(std::vector<net::bind_target>& targets) {
  for (unsigned number = 0; number < options_.instances; ++number) {
    auto& member = *members_.emplace_back(std::make_unique<instance_set::member>());
    member.process = make_instance(number + 1);
  }
  // Before ports are taken: those processes have theirs.
  if (auto adopted = co_await adopt(); !adopted) co_return adopted;
  for (std::size_t index = 0; index < std::min(targets.size(), members_.size()); ++index) {
    auto& target = targets[index];
    auto& member = *members_[index];
    if (auto taken = take_port(target, member); !taken) co_return taken;
    member.process->use_port(target.address.port());
  }
  co_return result<void>{};
}

loop::task<result<void>> instance_set::adopt() {
  loop::task_group adopting;
  std::vector<error> errors;
  for (const auto& each : members_) adopting.spawn(adopt(*each, errors));
  co_await adopting.drained();
  if (!errors.empty()) co_return std::unexpected(errors.front());
  co_return result<void>{};
}

loop::task<> instance_set::adopt(member& member, std::vector<error>& errors) {
  const auto adopted = co_await member.process->adopt();
  member.is_adopted = adopted.value_or(false);
  if (!adopted) errors.push_back(adopted.error());
}

std::unique_ptr<instance> instance_set::make_instance(unsigned number) {
  const instance::surroundings surroundings{.loop = loop_,
                                            .options = options_,
                                            .log = *context_.log,
                                            .state_folder = context_.state_folder,
                                            .hurried = hurried_};
  place_values values{.name = context_.name, .port = {}, .instance = number};
  auto listener = [this](instance& ended) { on_end(ended); };
  if (options_.attached) {
    return std::make_unique<outside_process>(surroundings, std::move(values), std::move(listener));
  }
  return std::make_unique<own_process>(surroundings, std::move(values), std::move(listener));
}

loop::task<result<void>> instance_set::begin() {
  loop::task_group starting;
  std::vector<error> errors;
  for (const auto& each : members_) starting.spawn(start(*each, errors));
  co_await starting.drained();
  if (!errors.empty()) co_return std::unexpected(errors.front());
  is_open_ = true;
  report_open();
  for (const auto& each : members_) {
    if (each->has_ended_early) on_end(*each->process);
  }
  co_return result<void>{};
}

loop::task<> instance_set::start(member& member, std::vector<error>& errors) {
  auto started = co_await member.process->start();
  member.started = loop_.now() - member.process->age();
  if (!started) errors.push_back(std::move(started.error()));
}

void instance_set::on_end(instance& ended) {
  if (is_closing_) return;
  const auto place =
      std::ranges::find(members_, &ended, [](const auto& each) { return each->process.get(); });
  auto& member = **place;
  member.has_ended_early = !is_open_;
  // `replace` starts it again itself.
  if (!is_open_ || member.is_awaiting_restart || member.is_leaving) return;
  report_open();
  recover(member);
}

void instance_set::recover(member& member) {
  const auto& process = *member.process;
  const bool is_wanted = options_.restart == "always" ||
                         (options_.restart == "on-failure" && !process.last_ending().is_success());
  // The daemon restarts a program of one instance, and shows why; but its socket would be closed.
  const bool is_alone = options_.instances == 1 && !options_.keep_socket;
  if (!is_wanted || is_alone) return end_if_none_is_left(process);
  if (loop_.now() - member.started >= steady_after) member.pauses.succeeded();
  if (has_spent_restarts(member)) return end_if_none_is_left(process);
  member.is_awaiting_restart = true;
  restarting_.spawn(restart(member));
}

loop::task<> instance_set::restart(member& member) {
  for (bool is_running = false; !is_running && !is_closing_;) {
    const auto pause = member.pauses.next(least_pause_s, longest_pause_s);
    co_await loop_.sleep(pause);
    ++member.restarts;
    const auto started = co_await member.process->start();
    member.started = loop_.now() - member.process->age();
    is_running = started.has_value();
    if (!started) {
      counters_.errors.add();
      context_.log->write(level::error, describe(started.error()),
                          fmt::format("#{}", member.process->values().instance));
    }
    if (!is_running && has_spent_restarts(member)) break;
  }
  member.is_awaiting_restart = false;
  report_open();
  if (!member.process->is_running()) end_if_none_is_left(*member.process);
}

bool instance_set::has_spent_restarts(const member& member) const {
  return options_.restart_limit != 0 && member.pauses.failures() >= options_.restart_limit;
}

void instance_set::end_if_none_is_left(const instance& last) {
  const bool is_one_left = std::ranges::any_of(members_, [](const auto& each) {
    return each->process->is_running() || each->is_awaiting_restart;
  });
  if (is_one_left || is_closing_) return;
  own_end end;
  end.is_work_done = std::ranges::all_of(
      members_, [](const auto& each) { return each->process->last_ending().is_success(); });
  end.are_restarts_spent =
      std::ranges::any_of(members_, [this](const auto& each) { return has_spent_restarts(*each); });
  listeners_.on_end(last.end_reason(), end);
}

void instance_set::report_open() {
  std::vector<std::size_t> numbers;
  for (const auto& each : members_) {
    if (each->process->is_ready() && !each->is_leaving) {
      numbers.push_back(each->process->values().instance);
    }
  }
  listeners_.on_open_instances(std::move(numbers));
}

loop::task<result<std::size_t>> instance_set::roll() {
  std::size_t count = 0;
  for (const auto& each : members_) {
    // One that is being restarted is replaced by that.
    const bool is_replaced = each->is_awaiting_restart || !each->process->is_running();
    if (is_closing_ || hurried_ || is_replaced) continue;
    const auto replaced = co_await replace(*each);
    if (!replaced) co_return std::unexpected(replaced.error());
    ++count;
  }
  co_return count;
}

loop::task<result<void>> instance_set::replace(member& member) {
  member.is_leaving = true;
  report_open();
  co_await loop_.sleep(loop::from_seconds(options_.drain));
  co_await member.process->stop(loop_.now() + loop::from_seconds(options_.grace));
  auto started = co_await member.process->start();
  member.started = loop_.now() - member.process->age();
  member.is_leaving = false;
  report_open();
  if (started) co_return started;
  counters_.errors.add();
  recover(member);
  auto& why = started.error();
  why.operation = fmt::format("replace instance {}: cannot {}", member.process->values().instance,
                              why.operation);
  why.remedy += "; the instances behind it run as before";
  co_return started;
}

loop::task<> instance_set::close(loop::time_point limit) {
  is_closing_ = true;
  restarting_.cancel();
  if (keeps_processes_.exchange(false)) {
    for (const auto& each : members_) each->process->leave();
  }
  const auto usual = loop_.now() + loop::from_seconds(options_.grace);
  loop::task_group stopping;
  for (const auto& each : members_) stopping.spawn(each->process->stop(std::min(limit, usual)));
  co_await stopping.drained();
}

std::optional<place_values> instance_set::values_of(std::uint64_t number) const {
  if (number == 0 || number > members_.size()) return std::nullopt;
  return members_[number - 1]->process->values();
}

std::size_t instance_set::signal(int number) {
  std::size_t reached = 0;
  for (const auto& each : members_) {
    if (each->process->signal(number)) ++reached;
  }
  return reached;
}

nlohmann::json instance_set::report() const {
  auto all = nlohmann::json::array();
  for (const auto& each : members_) {
    const auto& process = *each->process;
    const bool runs = process.is_running();
    const auto up = std::chrono::duration<double>(loop_.now() - each->started).count();
    const auto& port = process.values().port;
    all.push_back({{"instance", process.values().instance},
                   {"state", each->is_leaving            ? "rolling"
                             : runs                      ? "running"
                             : each->is_awaiting_restart ? "restarting"
                                                         : "ended"},
                   {"pid", process.process_id()},
                   {"port", port.empty() ? 0 : std::stoi(port)},
                   {"uptime_s", runs ? up : 0.0},
                   {"restarts", each->restarts},
                   {"status", process.status()}});
  }
  return all;
}

}  // namespace strata::runtime::program
