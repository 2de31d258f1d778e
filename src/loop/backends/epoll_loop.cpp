#include "loop/backends/epoll_loop.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <span>

#include "loop/datagram_buffers.hpp"

namespace strata::loop {

namespace {

constexpr int accepts_a_step = 64;
constexpr std::size_t edges_a_wait = 256;

// Without epoll_pwait2 (in an emulator, or an older sandbox), waits in whole milliseconds, rounded
// up. A null `timeout` means forever.
int await_edges(int fd, std::span<epoll_event> events, const timespec* timeout) {
  const int most = static_cast<int>(events.size());
  const int count = ::epoll_pwait2(fd, events.data(), most, timeout, nullptr);
  if (count >= 0 || errno != ENOSYS) return count;
  if (timeout == nullptr) return ::epoll_wait(fd, events.data(), most, -1);
  const auto ms = timeout->tv_sec * 1000 + (timeout->tv_nsec + 999'999) / 1'000'000;
  return ::epoll_wait(fd, events.data(), most, static_cast<int>(std::min<long>(ms, INT32_MAX)));
}

}  // namespace

struct epoll_loop::sending : operation {
  using operation::operation;
  std::array<slice, max_send_slices> data;
  std::size_t count = 0;
  socket_address to;
};

struct epoll_loop::sending_file : operation {
  using operation::operation;
  file_part from;
};

struct epoll_loop::polling : operation {
  using operation::operation;
  unsigned events = 0;
};

// A receive on a stream or of datagrams; it may wait for a buffer.
struct epoll_loop::receiving : operation, buffer_seeker {
  receiving(kind kind, request* asker, int of_fd)
      : operation(kind, asker, of_fd), buffer_seeker(of_fd) {}
};

result<std::unique_ptr<loop>> epoll_loop::make() {
  std::unique_ptr<epoll_loop> made(new epoll_loop());
  if (auto ready = made->check_wake_fd(); !ready) return std::unexpected(ready.error());
  made->epoll_fd_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!made->epoll_fd_) return system_failure(errno, "set up epoll");
  epoll_event event{.events = EPOLLIN, .data = {.fd = made->wake_fd()}};
  if (::epoll_ctl(made->epoll_fd_.get(), EPOLL_CTL_ADD, made->wake_fd(), &event) != 0) {
    return system_failure(errno, "watch the loop's eventfd");
  }
  made->buffer_memory_ =
      std::make_unique_for_overwrite<std::byte[]>(std::size_t{buffer_count} * buffer_size);
  for (std::uint32_t id = 0; id < buffer_count; ++id) made->free_buffers_.push_back(id);
  return made;
}

epoll_loop::~epoll_loop() {
  end_tasks();
  for (auto& state : watches_) {
    if (state.reader != nullptr) finish_reader(*state.reader, -ECANCELED);
    for (operation* const each : std::exchange(state.writers, {})) finish(*each, -ECANCELED);
  }
  while (has_events()) turn(false);
}

epoll_loop::watch& epoll_loop::watch_of(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= watches_.size()) watches_.resize(std::max(index + 1, watches_.size() * 2));
  return watches_[index];
}

/// Returns 0, or a negative errno: an operation on an unregistered descriptor would wait forever.
int epoll_loop::register_fd(int fd) {
  watch& state = watch_of(fd);
  if (state.registered) return 0;
  epoll_event edges{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.fd = fd}};
  // Regular files cannot be registered (EPERM): they are always ready, as `watch` is initially.
  const bool failed =
      ::epoll_ctl(epoll_fd_.get(), EPOLL_CTL_ADD, fd, &edges) != 0 && errno != EPERM;
  if (failed) return -errno;
  state.registered = true;
  return 0;
}

void epoll_loop::push_ready(int fd) {
  watch& state = watch_of(fd);
  if (state.in_ready) return;
  state.in_ready = true;
  ready_.push_back(fd);
}

void epoll_loop::start_reader(operation& operation) {
  if (const int code = register_fd(operation.fd); code != 0) {
    finish(operation, code);
    return;
  }
  watch& state = watch_of(operation.fd);
  assert(state.reader == nullptr);
  state.reader = &operation;
  if (state.readable) push_ready(operation.fd);
}

void epoll_loop::start_shared_reader(operation& operation) {
  watch_of(operation.fd).may_be_shared = true;
  start_reader(operation);
}

void epoll_loop::start_writer(operation& operation) {
  watch& state = watch_of(operation.fd);
  if (state.writable && state.writers.empty() && step_writer(operation)) return;
  if (const int code = register_fd(operation.fd); code != 0) {
    finish(operation, code);
    return;
  }
  watch_of(operation.fd).writers.push_back(&operation);
}

void epoll_loop::accept(const descriptor& descriptor, request& asker) {
  auto* made = new operation(operation::kind::accept, &asker, descriptor.fd());
  attach(asker, *made);
  start_shared_reader(*made);
}

void epoll_loop::receive(const descriptor& descriptor, request& asker) {
  auto* made = new receiving(operation::kind::receive, &asker, descriptor.fd());
  attach(asker, *made);
  start_reader(*made);
}

void epoll_loop::receive_from(const descriptor& descriptor, request& asker) {
  auto* made = new receiving(operation::kind::receive_from, &asker, descriptor.fd());
  attach(asker, *made);
  start_shared_reader(*made);
}

void epoll_loop::poll(const descriptor& descriptor, unsigned events, request& asker) {
  auto* made = new polling(operation::kind::poll, &asker, descriptor.fd());
  made->events = events;
  attach(asker, *made);
  // The present state counts, whatever edges have passed.
  watch_of(descriptor.fd()).readable = true;
  start_shared_reader(*made);
}

void epoll_loop::send(const descriptor& descriptor, std::span<const slice> data, request& asker) {
  auto* made = new sending(operation::kind::send, &asker, descriptor.fd());
  made->count = std::min(data.size(), max_send_slices);
  std::copy_n(data.begin(), made->count, made->data.begin());
  attach(asker, *made);
  start_writer(*made);
}

void epoll_loop::send_file(const descriptor& descriptor, const file_part& part, request& asker) {
  auto* made = new sending_file(operation::kind::send_file, &asker, descriptor.fd());
  made->from = part;
  attach(asker, *made);
  start_writer(*made);
}

void epoll_loop::send_to(const descriptor& descriptor, const socket_address& address,
                         slice datagram, request& asker) {
  auto* made = new sending(operation::kind::send_to, &asker, descriptor.fd());
  made->count = 1;
  made->data[0] = std::move(datagram);
  made->to = address;
  attach(asker, *made);
  start_writer(*made);
}

void epoll_loop::write(const descriptor& descriptor, slice data, request& asker) {
  auto* made = new sending(operation::kind::write, &asker, descriptor.fd());
  made->count = 1;
  made->data[0] = std::move(data);
  attach(asker, *made);
  start_writer(*made);
}

void epoll_loop::sync(const descriptor& file, request& asker) {
  auto* made = new operation(operation::kind::sync, &asker, file.fd());
  attach(asker, *made);
  finish(*made, ::fdatasync(file.fd()) == 0 ? 0 : -errno);
}

void epoll_loop::connect(const descriptor& descriptor, const socket_address& address,
                         request& asker) {
  auto* made = new operation(operation::kind::connect, &asker, descriptor.fd());
  attach(asker, *made);
  const int code = ::connect(descriptor.fd(), address.data(), address.size());
  if (code == 0 || errno != EINPROGRESS) {
    finish(*made, code == 0 ? 0 : -errno);
    return;
  }
  watch_of(descriptor.fd()).writable = false;
  start_writer(*made);
}

bool epoll_loop::step_writer(operation& operation) {
  if (operation.type == operation::kind::connect) {
    int code = 0;
    socklen_t size = sizeof code;
    ::getsockopt(operation.fd, SOL_SOCKET, SO_ERROR, &code, &size);
    finish(operation, -code);
    return true;
  }
  const int taken = operation.type == operation::kind::send_file
                        ? send_file_now(operation.fd, static_cast<sending_file&>(operation).from)
                        : send_now(static_cast<sending&>(operation));
  if (taken == -EAGAIN) {
    watch_of(operation.fd).writable = false;
    return false;
  }
  finish(operation, taken);
  return true;
}

/// Returns the number of bytes accepted, or a negative errno.
int epoll_loop::send_now(sending& data) {
  std::array<iovec, max_send_slices> vectors{};
  for (std::size_t i = 0; i < data.count; ++i) {
    const auto bytes = data.data[i].bytes();
    vectors[i] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  }
  ssize_t taken = 0;
  datagram_control control;
  msghdr header{};
  header.msg_iov = vectors.data();
  header.msg_iovlen = data.count;
  if (data.to.size() != 0) {
    header.msg_name = const_cast<sockaddr*>(data.to.data());
    header.msg_namelen = data.to.size();
    say_source(data.to, control, header);
  }
  do {
    taken = data.type == operation::kind::write
                ? ::writev(data.fd, vectors.data(), static_cast<int>(data.count))
                : ::sendmsg(data.fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (taken < 0 && errno == EINTR);
  return taken < 0 ? -errno : static_cast<int>(taken);
}

void epoll_loop::run_writers(int fd) {
  auto& writers = watch_of(fd).writers;
  std::size_t done = 0;
  while (done < writers.size() && step_writer(*writers[done])) ++done;
  writers.erase(writers.begin(), writers.begin() + static_cast<std::ptrdiff_t>(done));
}

void epoll_loop::finish_reader(operation& operation, int result) {
  watch_of(operation.fd).reader = nullptr;
  if (operation.is_receive()) static_cast<receiving&>(operation).unlink();
  finish(operation, result);
}

bool epoll_loop::step_accept(operation& operation) {
  for (int i = 0; i < accepts_a_step; ++i) {
    const int fd = ::accept4(operation.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      queue({.of = &operation, .result = fd, .more = true, .data = {}, .from = {}});
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      finish_reader(operation, -errno);
      return true;
    }
  }
  return true;
}

bool epoll_loop::step_receive(operation& operation, watch& state) {
  const auto id = free_buffers_.back();
  std::byte* const memory = buffer_memory_.get() + std::size_t{id} * buffer_size;
  const auto taken = ::recv(operation.fd, memory, buffer_size, MSG_DONTWAIT);
  if (taken < 0 && errno == EAGAIN) return false;
  if (taken < 0 && errno == EINTR) return true;
  if (taken <= 0) {
    finish_reader(operation, taken == 0 ? 0 : -errno);
    return true;
  }
  free_buffers_.pop_back();
  const auto size = static_cast<std::size_t>(taken);
  seekers_.note_received(operation.fd, size, buffer_size);
  queue({.of = &operation,
         .result = static_cast<int>(taken),
         .more = true,
         .data = {*this, id, {memory, size}},
         .from = {}});
  // A short read emptied the socket: the next byte causes a new edge. The end may have come with
  // the same edge, without a new one.
  return size == buffer_size || state.hung_up;
}

bool epoll_loop::step_receive_from(operation& operation) {
  const auto id = free_buffers_.back();
  std::byte* const memory = buffer_memory_.get() + std::size_t{id} * buffer_size;
  sockaddr_storage from{};
  iovec vector{memory, buffer_size};
  datagram_control control;
  msghdr header{};
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  header.msg_name = &from;
  header.msg_namelen = sizeof from;
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  const auto taken = ::recvmsg(operation.fd, &header, MSG_DONTWAIT);
  if (taken < 0 && errno == EAGAIN) return false;
  if (taken < 0 && errno == EINTR) return true;
  if (taken < 0) {
    finish_reader(operation, -errno);
    return true;
  }
  free_buffers_.pop_back();
  socket_address sender(reinterpret_cast<const sockaddr*>(&from), header.msg_namelen);
  note_source(header, sender);
  const bool cut = (header.msg_flags & MSG_TRUNC) != 0;
  queue({.of = &operation,
         .result = cut ? -EMSGSIZE : static_cast<int>(taken),
         .more = true,
         .data = {*this, id, {memory, static_cast<std::size_t>(taken)}},
         .from = std::move(sender)});
  return true;
}

bool epoll_loop::step_poll(operation& operation) {
  pollfd asked{.fd = operation.fd,
               .events = static_cast<short>(static_cast<polling&>(operation).events),
               .revents = 0};
  const int ready = ::poll(&asked, 1, 0);
  if (ready == 0) return false;
  if (ready < 0 && errno == EINTR) return true;
  finish_reader(operation, ready < 0 ? -errno : asked.revents);
  return true;
}

bool epoll_loop::step_reader(int fd) {
  operation& of = *watch_of(fd).reader;
  if (of.is_receive()) {
    auto& seeker = static_cast<receiving&>(of);
    if (seeker.is_linked()) return false;
    if (free_buffers_.empty() || seekers_.must_enter(seeker)) {
      seekers_.enter(seeker);
      return false;
    }
  }
  return take_step(fd);
}

bool epoll_loop::take_step(int fd) {
  watch& state = watch_of(fd);
  operation& of = *state.reader;
  bool again = false;
  switch (of.type) {
    case operation::kind::accept: again = step_accept(of); break;
    case operation::kind::receive: again = step_receive(of, state); break;
    case operation::kind::receive_from: again = step_receive_from(of); break;
    default: again = step_poll(of); break;
  }
  if (!again) state.readable = false;
  return again;
}

void epoll_loop::serve_seekers() {
  const auto buffers = static_cast<std::uint32_t>(free_buffers_.size());
  seekers_.serve(buffers, [this](const buffer_seeker& one) {
    if (take_step(one.descriptor)) push_ready(one.descriptor);
  });
}

void epoll_loop::run_ready() {
  auto now_ready = std::exchange(ready_, {});
  for (const int fd : now_ready) {
    watch& state = watch_of(fd);
    state.in_ready = false;
    if (state.reader != nullptr && state.readable && step_reader(fd)) push_ready(fd);
  }
}

void epoll_loop::take_edge(int fd, unsigned events) {
  watch& state = watch_of(fd);
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) state.hung_up = true;
  if ((events & ~static_cast<unsigned>(EPOLLOUT)) != 0) {
    state.readable = true;
    if (state.reader != nullptr && step_reader(fd)) push_ready(fd);
  }
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
    state.writable = true;
    run_writers(fd);
  }
  // A poll may wait for this edge too.
  const bool is_poll = state.reader != nullptr && state.reader->type == operation::kind::poll;
  if (is_poll && (events & EPOLLOUT) != 0 && step_reader(fd)) push_ready(fd);
}

void epoll_loop::wait(time_point deadline) {
  run_ready();
  serve_seekers();
  // Buffers may be left for the next turn, since not every seeker is served each turn.
  if (!seekers_.is_empty() && !free_buffers_.empty()) deadline = time_point::min();
  const auto left = deadline == time_point::min() ? duration::zero() : deadline - read_clock();
  timespec timeout{};
  if (!has_events() && ready_.empty() && left > duration::zero()) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    timeout = {.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  }
  std::array<epoll_event, edges_a_wait> edges;
  const bool for_ever = deadline == time_point::max() && !has_events() && ready_.empty();
  const int count = await_edges(epoll_fd_.get(), edges, for_ever ? nullptr : &timeout);
  for (int i = 0; i < count; ++i) {
    const auto& edge = edges[static_cast<std::size_t>(i)];
    if (edge.data.fd == wake_fd()) {
      drain_wake_fd();
    } else {
      take_edge(edge.data.fd, edge.events);
    }
  }
  seekers_.note_turn(std::chrono::microseconds(lag().last_us));
}

void epoll_loop::close_fd(int fd) {
  watch& state = watch_of(fd);
  if (state.reader != nullptr) finish_reader(*state.reader, -ECANCELED);
  for (operation* const each : std::exchange(state.writers, {})) finish(*each, -ECANCELED);
  if (state.registered && state.may_be_shared) {
    ::epoll_ctl(epoll_fd_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }
  const bool in_ready = state.in_ready;
  state = {};
  state.in_ready = in_ready;
  seekers_.forget(fd);
  ::close(fd);
}

void epoll_loop::cancel(operation& operation) {
  watch& state = watch_of(operation.fd);
  if (state.reader == &operation) {
    finish_reader(operation, -ECANCELED);
  } else if (const auto found = std::ranges::find(state.writers, &operation);
             found != state.writers.end()) {
    state.writers.erase(found);
    finish(operation, -ECANCELED);
  }
}

}  // namespace strata::loop
