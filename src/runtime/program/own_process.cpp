#include "runtime/program/own_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "options/own_folder.hpp"
#include "process/keeper_list.hpp"
#include "runtime/program/probe.hpp"

namespace strata::runtime::program {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view line_prefix = "line:";
// Time for a keeper to report an end that has come.
constexpr auto keeper_limit = 5s;
constexpr auto port_interval = 50ms;
constexpr auto hurry_interval = 10ms;

}  // namespace

own_process::~own_process() {
  tasks_.cancel();
  signal(SIGKILL);
  if (is_running() && group_) group_->kill();
}

bool own_process::signal(int number) const {
  return is_running() && kept_.id != 0 && ::kill(-kept_.id, number) == 0;
}

std::string own_process::end_reason() const {
  return fmt::format("'{}' has ended with {}", options_.command, ending_.text());
}

std::string own_process::keeper_name() const {
  return fmt::format("{}.{}", values_.name, values_.instance);
}

result<unique_fd> own_process::open_folder() const {
  if (state_folder_.empty()) return unique_fd();
  return options::open_own_folder(fmt::format("{}/{}", state_folder_, process::keeper_folder),
                                  "choose another folder with --state-dir");
}

loop::task<result<bool>> own_process::adopt() {
  const auto folder = open_folder();
  if (!folder) co_return std::unexpected(folder.error());
  if (!*folder) co_return false;
  auto found = co_await find_kept(loop_, folder->get(), keeper_name(), hurried_);
  if (!found) co_return std::unexpected(found.error());
  if (!*found) co_return false;
  auto& kept = **found;
  auto values = values_;
  values.port = kept.note.port;
  const auto launch = launch_of(options_, values, {});
  if (!launch || kept.note.fingerprint != fingerprint_of(options_)) {
    co_await end_other(std::move(kept));
    co_return false;
  }
  take_adopted(std::move(kept), launch->user);
  co_return true;
}

void own_process::take_adopted(kept_process kept, uid_t user) {
  kept_ = std::move(kept);
  group_ = process::control_group::find(keeper_name());
  user_ = user;
  is_adopted_ = true;
  values_.port = kept_.note.port;
  if (kept_.socket) socket_ = std::move(kept_.socket);
  if (!kept_.notifications) return;
  auto socket = notify_socket::adopt(std::move(kept_.notifications));
  if (socket) use_notifications(std::move(*socket));
}

loop::task<> own_process::end_other(kept_process other) {
  log_.write(level::info,
             fmt::format("process {} of an earlier daemon was started by other options: it is "
                         "ended",
                         other.id),
             subject());
  tasks_.spawn(read(std::move(other.output)));
  const auto id = other.id;
  const auto limit = loop_.now() + loop::from_seconds(options_.grace) + keeper_limit;
  const bool has_ended = co_await end_kept(loop_, other.connection, limit);
  if (!has_ended) {
    ::kill(other.keeper_id, SIGKILL);
    ::kill(-id, SIGKILL);
  }
  const auto group = process::control_group::find(keeper_name());
  if (group) co_await end_group(*group);
}

// One socket serves all processes that follow each other.
result<void> own_process::open_notifications() {
  if (!options_.takes_notifications() || !notify_address_.empty()) return {};
  auto socket = notify_socket::open();
  if (!socket) return std::unexpected(socket.error());
  use_notifications(std::move(*socket));
  return {};
}

void own_process::use_notifications(notify_socket socket) {
  notify_address_ = socket.address();
  notify_descriptor_ = socket.fd();
  tasks_.spawn(take_notifications(loop_.adopt(socket.release())));
}

result<void> own_process::open_group() {
  const auto limits = group_limits_of(options_);
  if (!limits) return std::unexpected(limits.error());
  auto made = process::control_group::make(keeper_name(), *limits);
  if (!made) return std::unexpected(made.error());
  group_ = std::move(*made);
  return {};
}

// Ends what the process has left, also outside of its process group.
loop::task<> own_process::close_group() {
  if (!group_) co_return;
  const auto group = *std::exchange(group_, std::nullopt);
  if (group.killed_for_memory() > 0) {
    log_.write(level::error,
               fmt::format("the kernel has killed a process: together they needed more memory than "
                           "--memory {}",
                           options_.memory),
               subject());
  }
  co_await end_group(group);
}

// The next process of this instance has a group of the same name.
loop::task<> own_process::end_group(process::control_group group) {
  group.kill();
  const auto limit = loop_.now() + keeper_limit;
  while (!group.remove() && loop_.now() < limit) co_await loop_.sleep(10ms);
}

result<process::kept_program> own_process::make_order(int folder, launch& launch) const {
  const auto working_folder = options_.folder.empty() ? std::string("/") : options_.folder;
  if (::access(working_folder.c_str(), X_OK) != 0) {
    return system_failure(errno, "enter the folder '" + working_folder + "'");
  }
  const nlohmann::json note = {{"port", values_.port}, {"fingerprint", fingerprint_of(options_)}};
  process::kept_program order;
  order.program.words = std::move(launch.words);
  order.program.environment = std::move(launch.environment);
  order.program.folder = working_folder;
  order.program.usual_signals = usual_signals;
  order.socket = socket_ ? socket_.fd() : -1;
  order.notifications = notify_descriptor_;
  order.folder = folder;
  order.name = keeper_name();
  order.note = note.dump();
  order.stop_signal = signal_number(options_.stop_signal);
  order.grace_ms = static_cast<std::int64_t>(options_.grace * 1e3);
  return order;
}

// Another process that listens at the port would pass for this one: what an earlier process has
// left behind, say.
loop::task<result<void>> own_process::await_free_port() {
  const bool is_asked = options_.ready == "port" || !path_of(options_.ready).empty();
  if (!is_asked || socket_) co_return result<void>{};
  const auto limit = loop_.now() + loop::from_seconds(options_.ready_timeout);
  for (bool is_reported = false;; co_await loop_.sleep(port_interval)) {
    const auto is_free = is_port_free(values_.port);
    // Without the right to it, the program itself says so.
    if (is_free.value_or(true)) co_return result<void>{};
    if (loop_.now() >= limit || hurried_) {
      co_return failure(errc::conflict, fmt::format("start '{}'", options_.command),
                        fmt::format("another process listens at port {}", values_.port),
                        fmt::format("'ss -ltnp sport = :{}' shows which: end it, or choose "
                                    "another --port",
                                    values_.port));
    }
    if (!std::exchange(is_reported, true)) {
      log_.write(
          level::warning,
          fmt::format("another process listens at port {}: waiting until it is free", values_.port),
          subject());
    }
  }
}

loop::task<result<void>> own_process::spawn() {
  if (auto free = co_await await_free_port(); !free) co_return free;
  if (auto opened = open_notifications(); !opened) co_return opened;
  if (auto opened = open_group(); !opened) co_return opened;
  auto launch = launch_of(options_, values_, notify_address_, group_ ? group_->door() : "");
  if (!launch) co_return std::unexpected(launch.error());
  auto folder = open_folder();
  if (!folder) co_return std::unexpected(folder.error());
  auto order = make_order(folder->get(), *launch);
  if (!order) co_return std::unexpected(order.error());
  // It may report before the keeper has answered.
  user_ = launch->user;
  is_adopted_ = has_signaled_ = has_shown_life_ = false;
  status_.clear();
  auto started = co_await run_keeper(std::move(*folder), std::move(*order));
  co_return started;
}

// The keeper belongs to this object at once: if the caller is canceled, `end` finds it.
loop::task<result<void>> own_process::run_keeper(unique_fd folder, process::kept_program order) {
  is_spawning_ = true;
  spawned_ = {};
  tasks_.spawn(spawn_keeper(std::move(folder), std::move(order)));
  const bool is_over = co_await changed_.wait([this] { return !is_spawning_ || hurried_; },
                                              loop::time_point::max(), hurry_interval);
  if (!is_over || is_spawning_) co_return given_up();
  co_return spawned_;
}

loop::task<> own_process::spawn_keeper(unique_fd folder, process::kept_program order) {
  std::function<bool()> is_wanted = [this] { return !is_stopping_ && !hurried_; };
  auto kept = co_await start_kept(loop_, std::move(order), spawning_keeper_, std::move(is_wanted));
  spawning_keeper_ = 0;
  if (kept) {
    kept_ = std::move(*kept);
  } else {
    spawned_ = std::unexpected(kept.error());
    if (folder) process::remove_keeper_file(folder.get(), keeper_name());
  }
  is_spawning_ = false;
  changed_.notify();
}

std::unexpected<error> own_process::given_up() const {
  return failure(errc::canceled, fmt::format("start '{}'", options_.command),
                 "it was stopped while it was starting");
}

loop::task<result<void>> own_process::start() {
  if (is_spawning_) co_return given_up();
  if (auto opened = open_output(); !opened) co_return opened;
  is_stopping_ = false;
  if (kept_.id == 0) {
    auto spawned = co_await spawn();
    if (!spawned) {
      co_await close_group();
      co_return spawned;
    }
  }
  is_running_ = true;
  is_ready_ = kept_.was_ready;
  log_.write(level::info,
             fmt::format("process {} {}", kept_.id, is_adopted_ ? "adopted" : "started"),
             subject());
  tasks_.spawn(read(std::move(kept_.output)));
  tasks_.spawn(await_end());
  result<void> ready;
  if (!is_ready_) ready = co_await await_ready();
  if (!ready) co_await stop(loop_.now() + loop::from_seconds(options_.grace));
  is_ready_ = ready.has_value();
  // One that has ended while no daemon ran was ready: its end follows from its restart policy.
  if (!is_ready_ || !is_running_) co_return ready;
  process::send_order(kept_.connection.fd(), process::keeper_order::note_ready);
  if (!options_.alive.empty()) tasks_.spawn(await_failed_checks());
  co_return ready;
}

loop::duration own_process::age() const {
  timespec since_boot{};
  if (kept_.start_ticks == 0 || ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return {};
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto started = static_cast<double>(kept_.start_ticks) / per_second;
  const auto now =
      static_cast<double>(since_boot.tv_sec) + static_cast<double>(since_boot.tv_nsec) / 1e9;
  return loop::from_seconds(std::max(now - started, 0.0));
}

loop::task<result<void>> own_process::await_ready() {
  const auto limit = loop_.now() + loop::from_seconds(options_.ready_timeout);
  const bool is_ready = co_await becomes_ready(limit);
  if (is_ready && is_running()) co_return result<void>{};
  if (!is_running()) {
    co_return failure(errc::connection_closed, fmt::format("start '{}'", options_.command),
                      "it has ended with " + ending_.text(), "'strata logs' shows what it said");
  }
  if (hurried_) co_return given_up();
  co_return failure(
      errc::timed_out, fmt::format("start '{}'", options_.command),
      fmt::format("it was not ready ({}) within {} s", options_.ready, options_.ready_timeout),
      "give a longer --ready-timeout, or another --ready");
}

// Waits until the process is ready, at most until it ends, until `limit`, or until the start is to
// hurry.
loop::task<bool> own_process::becomes_ready(loop::time_point limit) {
  if (options_.ready == "started") co_return true;
  if (options_.ready == "notify" || options_.ready.starts_with(line_prefix)) {
    const bool is_over = co_await changed_.wait(
        [this] { return has_signaled_ || !is_running() || hurried_; }, limit, hurry_interval);
    co_return (is_over && has_signaled_);
  }
  co_return co_await comes_to_answer(loop_, values_.port, path_of(options_.ready), limit,
                                     [this] { return is_running() && !hurried_; });
}

// Whoever restarts the process takes its end for a failure.
loop::task<> own_process::await_failed_checks() {
  const auto process = kept_.id;
  const bool has_failed = co_await fails_checks(
      loop_, options_, [this] { return is_alive(); },
      [this, process] { return kept_.id == process && !is_stopping_; });
  if (!has_failed) co_return;
  log_.write(level::warning,
             fmt::format("process {} has failed {} checks ({}) in a row: it is killed", process,
                         options_.alive_limit, options_.alive),
             subject());
  signal(SIGKILL);
}

loop::task<bool> own_process::is_alive() {
  if (options_.alive == "notify") co_return std::exchange(has_shown_life_, false);
  co_return co_await answers(loop_, values_.port, path_of(options_.alive));
}

loop::task<> own_process::await_end() {
  // Not before `start` has seen it run, even if it has ended already.
  loop::awaited_request readable;
  loop_.poll(kept_.connection, POLLIN, readable);
  (void)co_await readable;
  auto ended = co_await await_ending(loop_, kept_.connection);
  ending_ = ended ? *ended : end_without_keeper();
  // The next process has a file of the same name.
  if (const auto folder = open_folder(); folder && *folder) {
    process::remove_keeper_file(folder->get(), keeper_name());
  }
  co_await close_group();
  // From now on another process may get its id.
  kept_.id = 0;
  co_await let_go(loop_, kept_.connection, loop_.now() + keeper_limit);
  auto keeper = std::move(kept_.keeper);
  kept_ = {};
  is_running_ = is_adopted_ = false;
  log_.write(ending_.is_success() || is_stopping_ ? level::info : level::warning,
             "the process has ended with " + ending_.text(), subject());
  changed_.notify();
  // The end of one that has not become ready is the error of its start.
  if (is_ready_ && !is_stopping_) report_end();
  if (keeper) tasks_.spawn(await_keeper(std::move(keeper)));
}

// Nobody reads its output any more, and its exit status is lost.
process::ending own_process::end_without_keeper() {
  log_.write(level::error,
             fmt::format("the keeper of process {}, process {}, has ended: the process is killed",
                         kept_.id, kept_.keeper_id),
             subject());
  ::syscall(SYS_pidfd_send_signal, kept_.handle.get(), SIGKILL, nullptr, 0U);
  ::kill(-kept_.id, SIGKILL);
  return {.exit_code = 0, .signal = SIGKILL};
}

// It ends by itself; here its exit status is taken.
loop::task<> own_process::await_keeper(process::child keeper) {
  const auto handle = loop_.adopt(static_cast<int>(::syscall(SYS_pidfd_open, keeper.id(), 0U)));
  loop::awaited_request ended;
  loop_.poll(handle, POLLIN, ended);
  (void)co_await ended;
  (void)keeper.wait();
}

loop::task<> own_process::take_notifications(loop::descriptor socket) {
  for (;;) {
    loop::awaited_request readable;
    loop_.poll(socket, POLLIN, readable);
    (void)co_await readable;
    while (auto message = take_notification(socket.fd(), user_)) take(std::move(*message));
  }
}

void own_process::take(notification message) {
  if (message.is_ready && options_.ready == "notify") has_signaled_ = true;
  if (message.is_alive) has_shown_life_ = true;
  if (message.has_status) status_ = std::move(message.status);
  changed_.notify();
}

loop::task<> own_process::stop(loop::time_point limit) {
  co_await end(limit);
  co_await finish_output(limit);
}

// One that has been spawned, or adopted, and whose start was given up before it counted as running.
loop::task<> own_process::end_unused(kept_process unused, loop::time_point limit) {
  const bool has_ended = co_await end_kept(loop_, unused.connection, limit);
  if (!has_ended) {
    ::kill(-unused.id, SIGKILL);
    const bool is_gone = co_await end_kept(loop_, unused.connection, loop_.now() + keeper_limit);
    if (!is_gone) ::kill(unused.keeper_id, SIGKILL);
  }
  if (const auto folder = open_folder(); folder && *folder) {
    process::remove_keeper_file(folder->get(), keeper_name());
  }
  co_await close_group();
  if (unused.keeper) tasks_.spawn(await_keeper(std::move(unused.keeper)));
}

loop::task<> own_process::end_spawning(loop::time_point limit) {
  const auto is_over = [this] { return !is_spawning_; };
  const bool has_spawned = co_await changed_.wait(is_over, limit);
  if (has_spawned) co_return;
  if (spawning_keeper_ != 0) ::kill(spawning_keeper_, SIGKILL);
  const bool has_ended = co_await changed_.wait(is_over);
  (void)has_ended;
}

loop::task<> own_process::end(loop::time_point limit) {
  is_stopping_ = true;
  co_await end_spawning(limit);
  if (kept_.id != 0 && !is_running_) {
    auto unused = std::exchange(kept_, {});
    co_await end_unused(std::move(unused), limit);
    co_return;
  }
  signal(signal_number(options_.stop_signal));
  const bool has_ended = co_await changed_.wait([this] { return !is_running(); }, limit);
  if (has_ended) co_return;
  log_.write(level::warning,
             fmt::format("process {} has not ended by SIG{} in time: it is killed", kept_.id,
                         options_.stop_signal),
             subject());
  signal(SIGKILL);
  const bool is_gone =
      co_await changed_.wait([this] { return !is_running(); }, loop_.now() + keeper_limit);
  if (is_gone) co_return;
  // A keeper that was stopped, by a debugger say, reports nothing.
  ::kill(kept_.keeper_id, SIGKILL);
  const bool is_over =
      co_await changed_.wait([this] { return !is_running(); }, loop::time_point::max());
  (void)is_over;
}

void own_process::leave() {
  tasks_.cancel();
  is_spawning_ = false;
  spawning_keeper_ = 0;
  kept_.release();
  kept_ = {};
  is_running_ = false;
}

}  // namespace strata::runtime::program
