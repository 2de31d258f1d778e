// strata pipe END END: joins two ends, once.
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "cli/pipe/opening.hpp"
#include "cli/pipe/rows.hpp"
#include "cli/pipe/session.hpp"
#include "cli/terminal/output.hpp"
#include "loop/backends/backend.hpp"

namespace strata::cli {

namespace {

refusal refusal_of(const error& why, const pipe_end& end) {
  const bool is_missing = why.code == errc::not_found && end.url.is_ethernet();
  return {is_missing ? exit_not_found : exit_failed, describe(why)};
}

class joining {
 public:
  joining(loop::loop& loop, const pipe_ends& ends, const pipe_options& options, bool is_quiet)
      : loop_(loop), ends_(ends), options_(options), is_quiet_(is_quiet), changed_(loop) {}

  loop::task<outcome<int>> run() {
    auto made = end_opener::make(loop_, options_, ends_);
    if (!made) co_return refuse(exit_failed, made.error());
    opener_ = std::move(*made);
    for (std::size_t at = 0; at < ends_.size(); ++at) {
      if (!ends_[at].listens()) continue;
      auto opened = co_await opener_->listen(ends_[at], is_quiet_);
      if (!opened) co_return std::unexpected(refusal_of(opened.error(), ends_[at]));
      listening_[at] = std::move(*opened);
    }
    if (options_.fork) co_await serve_all(ends_[0].accepts() ? 0 : 1);
    auto code = co_await join_once();
    co_return code;
  }

  /// Prepares for destruction before the pipe has ended.
  void interrupt() {
    const bool is_leave = ends_[0].is_standard() || ends_[1].is_standard();
    if (now_ && !(is_leave && input_is_terminal())) now_->break_off();
  }

 private:
  loop::task<outcome<int>> join_once() {
    std::array<open_end, 2> open;
    for (const auto step : {&joining::take_peer, &joining::connect}) {
      for (std::size_t at = 0; at < ends_.size(); ++at) {
        auto done = co_await (this->*step)(at, open[at]);
        if (!done) co_return std::unexpected(refusal_of(done.error(), ends_[at]));
      }
    }
    std::unique_ptr<standard_streams> standard;
    for (std::size_t at = 0; at < ends_.size(); ++at) {
      if (!ends_[at].is_standard()) continue;
      auto made = standard_streams::open(loop_, !(options_.one_way && at == 1));
      if (!made) co_return refuse(exit_failed, made.error());
      standard = std::move(*made);
      open[at].bytes = standard->take_stream();
    }
    now_.emplace(loop_, ends_, options_);
    const auto code = co_await now_->run(std::move(open), std::move(standard));
    co_return code;
  }

  // A connection whose handshake fails is not the peer.
  loop::task<result<void>> take_peer(std::size_t offset, open_end& end) {
    auto& from = listening_[offset];
    if (from.messages) {
      from.messages->take_large();
      end.messages = net::make_first_peer_port(loop_, std::move(from.messages));
    }
    while (from.streams) {
      auto peer = co_await opener_->accept(*from.streams);
      auto welcomed = co_await opener_->welcome(ends_[offset], std::move(peer));
      if (!welcomed) {
        complain(describe(welcomed.error()));
        continue;
      }
      end = std::move(*welcomed);
      from.streams.reset();
    }
    co_return result<void>{};
  }

  loop::task<result<void>> connect(std::size_t offset, open_end& end) {
    if (!ends_[offset].connects()) co_return result<void>{};
    auto connected = co_await opener_->connect(ends_[offset]);
    if (!connected) co_return std::unexpected(connected.error());
    end = std::move(*connected);
    co_return result<void>{};
  }

  loop::task<> serve_all(std::size_t offset) {
    loop::task_group serving;
    for (;;) {
      co_await changed_.wait([this] { return served_ < options_.max_connections; });
      auto peer = co_await opener_->accept(*listening_[offset].streams);
      serving.spawn(serve(offset, std::move(peer)));
    }
  }

  loop::task<> serve(std::size_t offset, loop::descriptor peer) {
    ++served_;
    co_await serve_one(offset, std::move(peer));
    --served_;
    changed_.notify();
  }

  loop::task<> serve_one(std::size_t offset, loop::descriptor peer) {
    std::array<open_end, 2> open;
    auto welcomed = co_await opener_->welcome(ends_[offset], std::move(peer));
    if (!welcomed) {
      complain(describe(welcomed.error()));
      co_return;
    }
    open[offset] = std::move(*welcomed);
    const auto connected = co_await connect(1 - offset, open[1 - offset]);
    session one(loop_, ends_, options_);
    if (!connected) {
      complain(describe(connected.error()));
      co_await one.refuse(std::move(open));
      co_return;
    }
    const auto code = co_await one.run(std::move(open), nullptr);
    (void)code;  // failures have been reported
  }

  loop::loop& loop_;
  const pipe_ends& ends_;
  const pipe_options& options_;
  bool is_quiet_;
  loop::condition changed_;
  std::uint64_t served_ = 0;
  std::unique_ptr<end_opener> opener_;
  std::array<net::listening, 2> listening_;
  std::optional<session> now_;
};

/// From now on the loop reads the signals that end a pipe from a descriptor.
result<int> take_signals() {
  sigset_t ending;
  ::sigemptyset(&ending);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ending, each);
  if (::sigprocmask(SIG_BLOCK, &ending, nullptr) != 0) {
    return system_failure(errno, "hold back signals");
  }
  const int opened = ::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
  if (opened < 0) return system_failure(errno, "read signals");
  return opened;
}

// Returns the number of the first signal.
loop::task<int> next_signal(loop::loop& loop, const loop::descriptor& descriptor) {
  loop::awaited_request asked;
  loop.poll(descriptor, POLLIN, asked);
  const int ready = co_await asked;
  (void)ready;
  signalfd_siginfo reported{};
  const auto count = ::read(descriptor.fd(), &reported, sizeof reported);
  co_return count == static_cast<ssize_t>(sizeof reported) ? static_cast<int>(reported.ssi_signo)
                                                           : SIGTERM;
}

// Runs the work until it is done, or a signal arrives.
class course {
 public:
  course(loop::loop& loop, joining& work, int signals)
      : loop_(loop), work_(work), signals_(loop.adopt(signals)), changed_(loop) {}

  loop::task<> run(bool is_fork, outcome<int>& destination) {
    constexpr int first_signal_code = 128;
    running_.spawn(receive());
    running_.spawn(work_on());
    co_await changed_.wait([this] { return done_.has_value() || signal_ != 0; });
    if (!done_) work_.interrupt();
    destination = done_ ? *done_ : outcome<int>(is_fork ? 0 : first_signal_code + signal_);
    running_.cancel();
    loop_.stop();
  }

 private:
  loop::task<> work_on() {
    done_ = co_await work_.run();
    changed_.notify();
  }
  loop::task<> receive() {
    signal_ = co_await next_signal(loop_, signals_);
    changed_.notify();
  }

  loop::loop& loop_;
  joining& work_;
  loop::descriptor signals_;
  loop::condition changed_;
  std::optional<outcome<int>> done_;
  int signal_ = 0;
  loop::task_group running_;
};

}  // namespace

outcome<int> run_pipe(const invocation& call) {
  const auto ends = parse_ends(call);
  if (!ends) return std::unexpected(ends.error());
  const auto wanted = read_pipe_options(call, *ends);
  if (!wanted) return std::unexpected(wanted.error());
  const auto kind = loop::parse_backend(wanted->loop);
  if (!kind) return refuse(exit_misused, kind.error());
  auto made = loop::make_loop(*kind);
  if (!made) return refuse(exit_failed, made.error());
  const auto signals = take_signals();
  if (!signals) return refuse(exit_failed, signals.error());
  auto& on = **made;
  outcome<int> ended = exit_done;
  joining work(on, *ends, *wanted, call.quiet);
  // Started from inside the loop, as it may be over before its first wait.
  course way(on, work, *signals);
  on.post([&] { on.spawn(way.run(wanted->fork, ended)); });
  on.run();
  return ended;
}

}  // namespace strata::cli
