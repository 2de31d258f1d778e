// The proactor: one per thread. Start I/O with a request; its completion is delivered by `run()`,
// on the thread that runs it.
//
// A turn of the loop: run posted messages and due timers, run the turn-end hooks (which flush
// output), submit all requests to the kernel at once, wait, reap all completions into a queue, then
// deliver them one by one. No user code runs inside the reap.
//
// Backends: io_uring (uring_loop.hpp), epoll (epoll_loop.hpp) and a seeded simulation with virtual
// time and memory as the network (sim_loop.hpp). Code above this folder does not know which one it
// uses. Every member is for the loop's own thread, except `post()` and `lag()`.
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
  /// Lets several loops listen on one address; the kernel distributes the connections.
  bool share_port = false;
  /// For a stream, as in socket(2): 0 is the default of the address family.
  int protocol = 0;
  /// The mode of a Unix socket's file, from its creation on; without it, the process's umask
  /// applies.
  std::optional<unsigned> mode = {};
};

/// Work to run once at the end of the current turn, before the kernel is called.
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

/// The duration of turns, in microseconds: how long a completion waits for earlier ones.
struct loop_lag {
  std::uint64_t last_us = 0;
  std::uint64_t max_us = 0;
};

/// A range of an open file. The file must stay open while a request uses it.
struct file_part {
  int fd = -1;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

class loop {
 public:
  /// The most slices in one send.
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
  /// Opens a datagram socket; binds it if `address` is not empty.
  virtual result<descriptor> open_datagram(int family, const socket_address& address,
                                           const listen_options& options) = 0;
  /// Checks whether a stream listener, or a datagram socket, could have `address` for itself alone.
  /// The attempt leaves nothing behind. Errors: as of `listen` and `open_datagram`.
  virtual result<void> probe_stream(const socket_address& address, int protocol) = 0;
  virtual result<void> probe_datagram(const socket_address& address) = 0;
  /// Opens a file to append to; creates it with mode 0600 if it is missing. Errors:
  /// invalid_argument if it is not a regular file.
  virtual result<descriptor> open_append(const std::string& path) = 0;
  /// Takes over a descriptor that the loop did not open (a signalfd, a device).
  [[nodiscard]] descriptor adopt(int fd) { return {*this, fd}; }

  [[nodiscard]] virtual socket_address local_address(const descriptor& descriptor) const = 0;
  [[nodiscard]] virtual socket_address remote_address(const descriptor& descriptor) const = 0;
  /// Ends both directions at once; pending requests complete.
  virtual void shut_down(const descriptor& descriptor) = 0;
  /// Returns the number of sent bytes that the peer has not acknowledged. Closing now may lose them
  /// if received data is still unread.
  [[nodiscard]] virtual std::size_t unacknowledged(const descriptor& descriptor) const = 0;
  /// Has the kernel probe the peer after this interval of silence; a peer that does not answer ends
  /// the connection. For TCP; has no effect on other sockets.
  virtual void keep_alive(const descriptor& /*which*/, std::chrono::seconds /*interval*/) {}
  /// Ends the sending direction: the peer reads an end of stream after what was sent.
  virtual void shut_down_send(const descriptor& descriptor) = 0;

  /// Passes `bytes` to the network now, as far as it accepts them, and drops the rest. For a last
  /// message before closing, on a stream with no pending send.
  virtual void send_at_once(const descriptor& descriptor, byte_span bytes) = 0;

  /// Waits for the addresses of a host name, without blocking the loop.
  virtual task<result<std::vector<socket_address>>> resolve(std::string host,
                                                            std::uint16_t port) = 0;
  /// As `resolve`, with the lifetime of the addresses according to the name server, which takes a
  /// second query.
  virtual task<result<host_records>> resolve_records(std::string host, std::uint16_t port) = 0;

  // --- asking (each starts `asker`, which must not be under way)
  /// Completions: one per new connection, with its descriptor for `adopt()`.
  virtual void accept(const descriptor& descriptor, request& asker) = 0;
  /// Completions: received bytes; a last one with result 0 at the end of stream, or an error.
  /// -ENOBUFS is no failure: no buffer was free; start the request again.
  virtual void receive(const descriptor& descriptor, request& asker) = 0;
  /// As `receive`, with each datagram's sender. A datagram larger than a buffer is truncated to
  /// `max_datagram` and reported as -EMSGSIZE with `more`.
  virtual void receive_from(const descriptor& descriptor, request& asker) = 0;
  /// One completion: the number of bytes accepted, perhaps fewer than given.
  virtual void send(const descriptor& descriptor, std::span<const slice> data, request& asker) = 0;
  /// One completion: the number of bytes of the file accepted, perhaps fewer than requested; 0 if
  /// the file has none there. With the kernel's loops they are not copied through this process
  /// (sendfile(2)). A file that is not on a fast disk blocks the loop.
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
  /// One completion: 0 once everything written to the file is on the disk, or an error. The epoll
  /// loop blocks meanwhile, since epoll has no other way.
  virtual void sync(const descriptor& file, request& asker) = 0;

  /// Returns the store for files by name.
  [[nodiscard]] virtual file_store& files() = 0;

  // --- time
  /// Returns the time at which this turn began.
  [[nodiscard]] time_point now() const { return now_; }
  void arm(timer& timer, time_point deadline);
  void arm_after(timer& timer, duration delay) { arm(timer, now_ + delay); }
  /// Waits for `delay`.
  [[nodiscard]] auto sleep(duration delay);

  // --- work
  /// Runs `hook` once at the end of this turn; does nothing if it is already scheduled.
  void at_turn_end(turn_end_hook& hook) {
    if (!hook.is_linked()) turn_end_hooks_.push_back(hook);
  }
  /// Runs `body` on this loop's thread, in the order of the posts. From any thread; the loop must
  /// outlive the call, even if `body` stops it.
  void post(mailbox::message body) {
    if (mailbox_.post(std::move(body))) wake();
  }
  /// Runs `work` until it ends or the loop is destroyed.
  void spawn(task<> work) { tasks_.spawn(std::move(work)); }

  /// Runs until `stop()`.
  void run();
  void stop() { stopped_ = true; }
  /// Runs one turn. Waits for something to do if `may_wait`. Reports whether anything was done.
  bool turn(bool may_wait);

  /// Returns the duration of turns. From any thread.
  [[nodiscard]] loop_lag lag() const {
    return {last_lag_us_.load(std::memory_order_relaxed),
            max_lag_us_.load(std::memory_order_relaxed)};
  }
  /// Returns the loop whose `turn()` runs on this thread, or null.
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
  /// Makes a waiting loop return soon. From any thread.
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
  /// Returns the deadline of the next timer; `time_point::max()` if there is none.
  [[nodiscard]] time_point next_timer() const {
    return timers_.empty() ? time_point::max() : timers_.begin()->deadline();
  }
  /// Reports whether there is work that needs no waiting, timers aside.
  [[nodiscard]] bool has_work() const {
    return !mailbox_.empty() || !events_.empty() || !turn_end_hooks_.empty();
  }
  /// For destructors of backends: ends all tasks while the backend can still cancel requests.
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

/// A request for which one coroutine waits.
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
