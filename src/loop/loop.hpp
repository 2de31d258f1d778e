// The proactor: one a thread. Ask for I/O with a request, and its completion is delivered by
// `run()`, on the thread that runs it.
//
// A turn of the loop: run posted messages and due timers, run the turn's end hooks (where output
// is flushed), hand everything asked for to the kernel in one go, wait, reap all completions into
// a queue, then deliver them one by one. No user code runs inside the reap.
//
// Backends: io_uring (uring_loop.hpp), epoll (epoll_loop.hpp) and a seeded simulation with virtual
// time and memory for a network (sim_loop.hpp). Nothing above this folder knows which it is on.
// Every member is for the loop's own thread but `post()` and the figures of `lag()`.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loop/descriptor.hpp"
#include "loop/file_store.hpp"
#include "loop/mailbox.hpp"
#include "loop/names/address.hpp"
#include "loop/names/host_records.hpp"
#include "loop/request.hpp"
#include "loop/slice.hpp"
#include "loop/task_group.hpp"
#include "loop/timer.hpp"
#include "strata/base/result.hpp"

namespace strata::loop {

struct listen_options {
  int backlog = 4096;
  /// Several loops listen on one address and the kernel spreads the connections.
  bool share_port = false;
  /// Of a stream, as socket(2) takes it: 0 is what is usual in the address's family.
  int protocol = 0;
  /// Of a Unix socket's file, from the moment that it is there; else the process's umask says.
  std::optional<unsigned> mode = {};
};

/// Work to do once at the end of the present turn, before the kernel is called.
class turn_end_hook : public boost::intrusive::list_base_hook<
                          boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  turn_end_hook() = default;
  turn_end_hook(const turn_end_hook&) = delete;
  turn_end_hook& operator=(const turn_end_hook&) = delete;
  virtual ~turn_end_hook() = default;

 protected:
  friend class loop;
  virtual void on_turn_end() = 0;
};

/// How long turns take, in microseconds: what a completion waits for those before it.
struct loop_lag {
  std::uint64_t last_us = 0;
  std::uint64_t max_us = 0;
};

/// Bytes of a file that is open, and stays so while something asks for them.
struct file_part {
  int fd = -1;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

class loop {
 public:
  /// At most this many slices go into one send.
  static constexpr std::size_t max_send_slices = 8;

  loop() = default;
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;
  virtual ~loop();

  /// "io_uring", "epoll" or "simulation".
  [[nodiscard]] virtual std::string_view backend() const = 0;

  // --- opening
  virtual result<descriptor> listen(const socket_address& address,
                                    const listen_options& options) = 0;
  /// `protocol` as in `listen_options`.
  virtual result<descriptor> open_stream(int family, int protocol) = 0;
  /// A datagram socket; bound when `address` is not empty.
  virtual result<descriptor> open_datagram(int family, const socket_address& address,
                                           const listen_options& options) = 0;
  /// Whether a stream's listener, or a datagram socket, could have `address` for itself alone.
  /// Nothing of the try is left when this returns. Errors: as of `listen` and `open_datagram`.
  virtual result<void> probe_stream(const socket_address& address, int protocol) = 0;
  virtual result<void> probe_datagram(const socket_address& address) = 0;
  /// A file to append to; made with mode 0600 when missing. Errors: invalid_argument when it is no
  /// regular file.
  virtual result<descriptor> open_append(const std::string& path) = 0;
  /// Takes over a descriptor that the loop did not open (a signalfd, a device).
  [[nodiscard]] descriptor adopt(int fd) { return {*this, fd}; }

  [[nodiscard]] virtual socket_address local_address(const descriptor& descriptor) const = 0;
  [[nodiscard]] virtual socket_address remote_address(const descriptor& descriptor) const = 0;
  /// Ends both directions at once; requests under way complete.
  virtual void shut_down(const descriptor& descriptor) = 0;
  /// Bytes sent that the peer's side has not acknowledged: closing now may lose them, if something
  /// of the peer's is still unread.
  [[nodiscard]] virtual std::size_t unacknowledged(const descriptor& descriptor) const = 0;
  /// Has the kernel look, at this interval of silence, whether the peer is still there: one that
  /// is not ends the connection. For TCP; nothing on another kind of socket.
  virtual void keep_alive(const descriptor& /*which*/, std::chrono::seconds /*interval*/) {}
  /// Ends the sending direction: the peer reads an end of stream after what was sent.
  virtual void shut_down_send(const descriptor& descriptor) = 0;

  /// Hands `bytes` to the network now, as far as it takes them, and forgets the rest. For a last
  /// word before closing, on a stream of which no send is under way.
  virtual void send_at_once(const descriptor& descriptor, byte_span bytes) = 0;

  /// Awaits the addresses of a host name, without blocking the loop.
  virtual task<result<std::vector<socket_address>>> resolve(std::string host,
                                                            std::uint16_t port) = 0;
  /// The same, and how long they are good for by what the name server says. It asks that twice.
  virtual task<result<host_records>> resolve_records(std::string host, std::uint16_t port) = 0;

  // --- asking (each starts `asker`, which must not be under way)
  /// Completions: a new connection's descriptor each, for `adopt()`.
  virtual void accept(const descriptor& descriptor, request& asker) = 0;
  /// Completions: received bytes each; a last one with result 0 at the end of stream, or an error.
  /// -ENOBUFS is no failure: no buffer was free; ask again.
  virtual void receive(const descriptor& descriptor, request& asker) = 0;
  /// As `receive`, with each datagram's sender. A datagram larger than a buffer is cut to
  /// `max_datagram` and reported as -EMSGSIZE with `more`.
  virtual void receive_from(const descriptor& descriptor, request& asker) = 0;
  /// One completion: how many bytes were taken, perhaps fewer than given.
  virtual void send(const descriptor& descriptor, std::span<const slice> data, request& asker) = 0;
  /// One completion: how many bytes of the file were taken, perhaps fewer than asked; 0 when it has
  /// none there. With the kernel's loops they are not copied through this process (sendfile(2)).
  /// A file whose bytes are on no fast disk holds up the loop.
  virtual void send_file(const descriptor& descriptor, const file_part& part, request& asker) = 0;
  /// One completion. An empty address sends to the connected peer.
  virtual void send_to(const descriptor& descriptor, const socket_address& address, slice datagram,
                       request& asker) = 0;
  /// One completion: 0 or an error.
  virtual void connect(const descriptor& descriptor, const socket_address& address,
                       request& asker) = 0;
  /// One completion: the ready events (POLLIN, POLLOUT, …).
  virtual void poll(const descriptor& descriptor, unsigned events, request& asker) = 0;
  /// One completion: bytes appended to the file, perhaps fewer than given.
  virtual void write(const descriptor& descriptor, slice data, request& asker) = 0;
  /// One completion: 0 once all that was written to the file is on the disk, or an error. With
  /// epoll, which knows no other way, the loop waits meanwhile.
  virtual void sync(const descriptor& file, request& asker) = 0;

  /// Files by name.
  [[nodiscard]] virtual file_store& files() = 0;

  // --- time
  /// The time at which this turn began.
  [[nodiscard]] time_point now() const { return now_; }
  void arm(timer& timer, time_point deadline);
  void arm_after(timer& timer, duration delay) { arm(timer, now_ + delay); }
  /// Awaits `delay`.
  [[nodiscard]] auto sleep(duration delay);

  // --- work
  /// Runs `hook` once at the end of this turn; harmless when it is already waiting for that.
  void at_turn_end(turn_end_hook& hook) {
    if (!hook.is_linked()) turn_end_hooks_.push_back(hook);
  }
  /// Runs `body` on this loop's thread, in the order of the posts. From any thread; the loop must
  /// outlive the call, even when `body` is what stops it.
  void post(mailbox::message body) {
    if (mailbox_.post(std::move(body))) wake();
  }
  /// Runs `work` until it ends or the loop goes.
  void spawn(task<> work) { tasks_.spawn(std::move(work)); }

  /// Runs until `stop()`.
  void run();
  void stop() { stopped_ = true; }
  /// One turn. Waits for something to do when `may_wait`. Says whether anything was done.
  bool turn(bool may_wait);

  /// From any thread.
  [[nodiscard]] loop_lag lag() const {
    return {last_lag_us_.load(std::memory_order_relaxed),
            max_lag_us_.load(std::memory_order_relaxed)};
  }
  /// The loop whose `turn()` runs on this thread, or null.
  [[nodiscard]] static loop* current();

 protected:
  friend class request;
  friend class descriptor;

  struct event {
    operation* of;
    int result;
    bool more;
    buffer data;
    socket_address from;
  };

  virtual void close_fd(int fd) = 0;
  virtual void cancel(operation& operation) = 0;
  /// Makes a loop that waits return soon. From any thread.
  virtual void wake() = 0;
  /// Submits, waits until there is an event or `deadline` (which may have passed), reaps.
  virtual void wait(time_point deadline) = 0;
  [[nodiscard]] virtual time_point read_clock() const = 0;

  void attach(request& asker, operation& operation) {
    asker.loop_ = this;
    asker.operation_ = &operation;
  }
  /// Queues a completion for delivery after the reap.
  void queue(event reaped) { events_.push_back(std::move(reaped)); }
  [[nodiscard]] bool has_events() const { return !events_.empty(); }
  void update_now() { now_ = read_clock(); }
  /// When the next timer is due; `time_point::max()` when there is none.
  [[nodiscard]] time_point next_timer() const {
    return timers_.empty() ? time_point::max() : timers_.begin()->deadline();
  }
  /// Something can be done without waiting, timers aside.
  [[nodiscard]] bool has_work() const {
    return !mailbox_.empty() || !events_.empty() || !turn_end_hooks_.empty();
  }
  /// For destructors of backends: ends tasks while the backend can still cancel requests.
  void end_tasks();

 private:
  void deliver(event& reaped);
  bool run_timers();
  void run_turn_end_hooks();

  mailbox mailbox_;
  timer_queue timers_;
  boost::intrusive::list<turn_end_hook, boost::intrusive::constant_time_size<false>>
      turn_end_hooks_;
  std::vector<event> events_;
  std::vector<event> delivering_;
  time_point now_ = std::chrono::steady_clock::now();
  bool stopped_ = false;
  std::atomic<std::uint64_t> last_lag_us_ = 0;
  std::atomic<std::uint64_t> max_lag_us_ = 0;
  task_group tasks_;
};

/// A request that one coroutine awaits.
class awaited_request : public request {
 public:
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> self) { waiter_ = self; }
  /// The completion's result: 0 or more, or a negative errno.
  [[nodiscard]] int await_resume() const { return result_; }

 protected:
  void on_completion(completion completion) override {
    result_ = completion.result;
    if (waiter_) waiter_.resume();
  }

 private:
  std::coroutine_handle<> waiter_;
  int result_ = 0;
};

class awaited_timer : public timer {
 public:
  awaited_timer(loop& loop, duration delay) : loop_(loop), delay_(delay) {}
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    waiter_ = self;
    loop_.arm_after(*this, delay_);
  }
  void await_resume() const {}

 protected:
  void on_timer() override { waiter_.resume(); }

 private:
  loop& loop_;
  duration delay_;
  std::coroutine_handle<> waiter_;
};

inline auto loop::sleep(duration delay) { return awaited_timer(*this, delay); }

}  // namespace strata::loop
