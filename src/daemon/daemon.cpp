#include "daemon/daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "daemon/access_options.hpp"
#include "daemon/api/control_socket.hpp"
#include "daemon/daemon_log.hpp"
#include "daemon/daemon_parts.hpp"
#include "daemon/readiness.hpp"
#include "daemon/signals.hpp"
#include "daemon/store/file_record_store.hpp"
#include "daemon/takeover/activation.hpp"
#include "daemon/takeover/handover_folder.hpp"
#include "loop/socket_file.hpp"
#include "loop/socket_shelf.hpp"
#include "net/scheme.hpp"
#include "options/own_folder.hpp"
#include "process/control_group.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;

namespace {

// A table for this many descriptors takes 128 KiB of the kernel's memory.
constexpr rlim_t most_prepared = 16'384;
// Time beyond the time-out for runtimes to end what they then no longer deliver.
constexpr auto clearing_up = 1s;

int refuse(const error& why) {
  fmt::print(stderr, "strata daemon: {}\n", describe(why));
  return 1;
}

// To be called while the process has one thread. When the table of descriptors of one with several
// grows, Linux waits until no CPU reads the old one (expand_fdtable in fs/file.c): the thread that
// accepts a connection stood still for some 20 ms, at 64 descriptors, at 128, and so on.
void prepare_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const int highest = static_cast<int>(std::min(limit.rlim_cur, most_prepared)) - 1;
  const int made = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, highest);
  if (made >= 0) ::close(made);
}

}  // namespace

daemon::daemon(loop::loop& loop, loop::backend_kind kind, std::size_t most_loops,
               std::unique_ptr<file_record_store> store, std::shared_ptr<log_output> output,
               readiness& ready)
    : home_(loop),
      output_(std::move(output)),
      ready_(ready),
      loops_(loop, kind, most_loops),
      store_(*store),
      supervisor_(loop, loops_, std::move(store)),
      api_(supervisor_, loops_,
           {.version = STRATA_VERSION, .loop = std::string(loop.backend()), .started = loop.now()},
           log_) {
  log_->set_copy([](const runtime::journal_line& line) {
    spdlog::log(log_level(line.severity), "control API: {}", line.text);
  });
}

result<void> daemon::listen(const options::daemon_options& options) {
  // Every user may connect to the broker, which checks the policy.
  folder_access access{.group = {}, .everybody = !options.socket_policy.empty()};
  const auto group = group_of(options);
  if (!group) return std::unexpected(group.error());
  if (*group) access.group = (*group)->id;
  if (auto ready = prepare_socket_folder(options.socket, access); !ready) return ready;
  if (!options.socket_policy.empty()) {
    auto started =
        socket_broker_.start(broker_socket_beside(options.socket), options.socket_policy);
    if (!started) return started;
  }
  if (auto read = read_identity(options); !read) return read;
  return listen_for_requests(options);
}

result<void> daemon::listen_for_requests(const options::daemon_options& options) {
  const auto group = group_of(options);
  if (!group) return std::unexpected(group.error());
  if (auto listening = api_.listen(options.socket, *group); !listening) return listening;
  if (auto remote = listen_remote(options); !remote) return remote;
  return listen_metrics(options);
}

result<void> daemon::join(const options::daemon_options& options) {
  if (options.cluster.empty()) return {};
  auto made = cluster_node::make(supervisor_, options);
  if (!made) return std::unexpected(made.error());
  cluster_ = std::move(*made);
  supervisor_.join(*cluster_);
  return {};
}

result<void> daemon::read_identity(const options::daemon_options& options) {
  std::vector<std::string> urls;
  if (!options.listen.empty()) urls.push_back(options.listen);
  if (is_secure_web(options.metrics)) urls.push_back(options.metrics);
  if (urls.empty()) return {};
  auto access = remote_access_of(options);
  if (!access) return std::unexpected(access.error());
  token_file_ = options.token_file;
  runtime::tls_server_options files;
  if (!options.cert.empty()) files.cert = {options.cert};
  if (!options.key.empty()) files.key = {options.key};
  if (!options.client_ca.empty()) files.client_ca = options.client_ca;
  if (auto checked = runtime::check_tls(files, urls); !checked) return checked;
  if (auto opened = identity_.open(files); !opened) return opened;
  api_.secure_with(identity_.slot(), std::move(*access));
  return {};
}

result<void> daemon::listen_remote(const options::daemon_options& options) {
  if (options.listen.empty()) return {};
  const auto operation = "listen on '" + options.listen + "'";
  auto url = net::parse_listening(options.listen);
  if (!url) return std::unexpected(url.error());
  if (!is_secure_web(options.listen)) {
    return failure(errc::invalid_argument, operation, "the control API needs encryption",
                   "write https://HOST:PORT");
  }
  if (options.client_ca.empty() && options.token_file.empty()) {
    return failure(errc::invalid_argument, operation, "anyone could control the daemon",
                   "add --client-ca FILE or --token-file FILE");
  }
  auto address = net::address_of(*url);
  if (!address) return std::unexpected(address.error());
  return api_.listen_remote(*address);
}

result<void> daemon::listen_metrics(const options::daemon_options& options) {
  if (options.metrics.empty()) return {};
  auto url = net::parse_listening(options.metrics);
  if (!url) return std::unexpected(url.error());
  const bool is_secure = is_secure_web(options.metrics);
  const auto scheme = url->scheme->name;
  if (!is_secure && scheme != "tcp" && scheme != "http") {
    return failure(errc::invalid_argument, "serve metrics on '" + options.metrics + "'",
                   "metrics need HTTP", "write tcp://HOST:PORT or https://HOST:PORT");
  }
  auto address = net::address_of(*url);
  if (!address) return std::unexpected(address.error());
  return api_.listen_metrics(*address, is_secure);
}

// Requests wait while the runtimes are being restored, so that none sees a partial state: it would
// not even see that a name is taken.
loop::task<> daemon::bring_up() {
  if (!predecessor_) takeover::remove_handover_folder(supervisor_.place());
  const auto loaded = co_await supervisor_.load();
  if (!loaded) {
    spdlog::error("{}", describe(loaded.error()));
    failed_ = true;
    home_.stop();
    co_return;
  }
  if (cluster_) {
    if (predecessor_) cluster_->set_drained(predecessor_->is_drained());
    cluster_->begin();
    if (!predecessor_) cluster_->join();
  }
  // Programs that an earlier daemon has left running. Those that start later are not among them.
  const auto kept = process::read_keeper_files(supervisor_.place());
  loop::task_group restoring;
  using enum group_members;
  restoring.spawn(supervisor_.start_all(predecessor_ ? first : in_any_order));
  const auto limit = home_.now() + 2s;
  while (!restoring.empty() && home_.now() < limit) co_await home_.sleep(10ms);
  // Until all is there, the daemon before it answers what its clients ask.
  if (!predecessor_) answer_from_now_on();
  co_await restoring.drained();
  end_strays(kept);
  spdlog::info("restored");
  is_restored_ = true;
  restored_.notify();
  if (predecessor_) {
    answer_from_now_on();
    if (cluster_) {
      cluster_->adopt(predecessor_->cluster_key());
      cluster_->join();
    }
    predecessor_->end();
  }
  for (const auto& each : loop::socket_shelf::of_process().close_untaken()) {
    spdlog::debug("no runtime listens on {}, which was handed over", each.text());
  }
}

void daemon::answer_from_now_on() {
  api_.begin();
  spdlog::info("ready");
  ready_.report_ready();
}

// Their records have changed or gone while no daemon ran.
void daemon::end_strays(const std::vector<process::keeper_file>& kept) {
  const auto is_wanted = [this](const process::keeper_file& file) {
    const auto entry = supervisor_.list().entry_of(file.runtime);
    if (!entry || !entry->desired.running || entry->type->name != "program") return false;
    return file.instance <= entry->body->options(false).value("instances", 1U);
  };
  for (const auto& name : process::end_unwanted(supervisor_.place(), kept, is_wanted)) {
    spdlog::info("the program '{}' of an earlier daemon is not to run any more: it is ended", name);
  }
}

loop::task<> daemon::live(loop::descriptor signals, double drain_timeout) {
  if (predecessor_) {
    starting_.spawn(await_predecessor());
    starting_.spawn(report_life_to_predecessor());
  }
  starting_.spawn(bring_up());
  for (;;) {
    loop::awaited_request readable;
    home_.poll(signals, POLLIN, readable);
    (void)co_await readable;
    signalfd_siginfo got{};
    if (::read(signals.fd(), &got, sizeof got) != sizeof got) continue;
    if (got.ssi_signo == SIGHUP) {
      starting_.spawn(read_again());
    } else if (got.ssi_signo == SIGUSR2) {
      starting_.spawn(successor_->run());
    } else {
      break;
    }
  }
  spdlog::info("stopping");
  if (!is_handed_over_) readiness::notify("STOPPING=1");
  // A second signal ends the process at once: saved data is safe at any time.
  heed_no_more_endings();
  api_.refuse_requests();
  limit_ending(drain_timeout);
  const auto limit = home_.now() + loop::from_seconds(drain_timeout);
  if (cluster_) co_await cluster_->leave(std::min(limit, home_.now() + 1s));
  if (is_handed_over_) co_await finish_handover();
  loop::task_group stopping;
  stopping.spawn(supervisor_.shut_down(limit));
  while (!stopping.empty() && home_.now() < limit) co_await home_.sleep(2ms);
  if (!stopping.empty()) supervisor_.hurry();
  while (!stopping.empty() && home_.now() < limit + clearing_up) co_await home_.sleep(2ms);
  if (!stopping.empty()) give_up();
  home_.stop();
}

// A loop that no longer runs turns ends the reports, and the service manager restarts the daemon.
loop::task<> daemon::report_life(loop::duration interval) {
  for (;;) {
    if (loops_.have_answered()) readiness::notify("WATCHDOG=1");
    co_await home_.sleep(interval / 3);
  }
}

loop::task<> daemon::read_again() {
  spdlog::info("SIGHUP: reopening the log and rereading certificates and tokens");
  if (auto opened = output_->open_again(); !opened) spdlog::error("{}", describe(opened.error()));
  if (auto read = identity_.reload(); !read) spdlog::error("{}", describe(read.error()));
  if (!token_file_.empty()) {
    auto tokens = token_list::read(token_file_);
    if (tokens) {
      api_.replace_tokens(std::move(*tokens));
    } else {
      spdlog::error("{}; the previous tokens remain valid", describe(tokens.error()));
    }
  }
  co_await supervisor_.read_files_again();
}

// A runtime may wait for ever. Its threads cannot be ended one by one, but the process can: saved
// data is safe at any time.
void daemon::give_up() {
  const auto unstopped = supervisor_.unstopped();
  for (const auto& name : unstopped) {
    spdlog::error("'{}' did not stop in time: the daemon ends without waiting for it", name);
  }
  if (unstopped.empty()) {
    spdlog::error("'{}' did not apply a change in time: the daemon ends without waiting for it",
                  supervisor_.place());
  }
  api_.stop();
  socket_broker_.stop();
  spdlog::default_logger()->flush();
  std::_Exit(1);
}

int daemon::run(unique_fd signals, double drain_timeout) {
  home_.spawn(live(home_.adopt(signals.release()), drain_timeout));
  if (const auto interval = readiness::watchdog_interval()) home_.spawn(report_life(*interval));
  home_.run();
  api_.stop();
  spdlog::info("stopped");
  return failed_ ? 1 : 0;
}

int run(const options::daemon_options& options) {
  if (auto good = options::check(options); !good) return refuse(good.error());
  auto command = takeover::own_command::read();
  takeover::take_activation_sockets();
  readiness ready;
  const bool follows = takeover::is_started_by_predecessor();
  if (options.detach || follows) {
    using enum readiness::streams;
    auto detached = ready.detach(options.detach ? closed : kept);
    if (!detached) return refuse(detached.error());
  }
  auto log = set_up_log(options.log_level, {});
  if (!log) return refuse(log.error());
  prepare_descriptors();
  auto kind = loop::parse_backend(options.loop);
  if (!kind) return refuse(kind.error());
  std::optional<takeover::predecessor> predecessor;
  if (options.takeover) {
    auto found = takeover::predecessor::ask(options.socket, options.state_dir);
    if (!found) return refuse(found.error());
    predecessor = std::move(*found);
  }
  auto signals = take_signals();
  if (!signals) return refuse(signals.error());
  std::string why_not;
  auto home = loop::make_loop(*kind, &why_not);
  if (!home) return refuse(home.error());
  auto store = file_record_store::open(**home, options.state_dir,
                                       predecessor ? predecessor->take_lock() : unique_fd());
  if (!store) return refuse(store.error());
  // Only now is the folder known to be safe.
  const auto log_file = options.log_file.empty() && options.detach
                            ? options.state_dir + "/daemon.log"
                            : options.log_file;
  log = set_up_log(options.log_level, {.file = log_file,
                                       .max_size = options.log_size,
                                       .keep = options.log_keep,
                                       .is_json = options.log_format == "json"});
  if (!log) return refuse(log.error());
  if (!why_not.empty()) spdlog::warn("{}; using epoll instead", why_not);
  if (auto opened = process::use_group_folder(options.cgroup); !opened) {
    if (!options.cgroup.empty()) return refuse(opened.error());
    spdlog::warn("programs get no control groups: {}", describe(opened.error()));
  }
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  daemon whole(**home, *kind, options.loops != 0 ? options.loops : cores, std::move(*store),
               std::move(*log), ready);
  if (auto joined = whole.join(options); !joined) return refuse(joined.error());
  if (auto listening = whole.listen(options); !listening) return refuse(listening.error());
  whole.follow(std::move(predecessor), std::move(command), options);
  spdlog::info("strata {} on {}, state in {}, control socket {}", STRATA_VERSION,
               (*home)->backend(), options.state_dir, options.socket);
  return whole.run(std::move(*signals), options.drain_timeout);
}

}  // namespace strata::daemon
