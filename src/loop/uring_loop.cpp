#include "loop/uring_loop.hpp"

#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace strata::loop {

namespace {

constexpr unsigned submission_entries = 1024;
constexpr unsigned completion_entries = 16384;
// As many buffers go round unless more are needed: few stay in the caches and the TLB.
constexpr std::uint32_t least_offered = 32;
constexpr unsigned calm_reaps = 1024;  // after so many that needed few, fewer are offered
constexpr std::uint16_t buffer_group = 0;

// What user_data says when it is not an operation's address.
constexpr std::uint64_t ignored_tag = 0;
constexpr std::uint64_t wake_fd_tag = 2;
constexpr std::uint64_t wake_message_tag = 4;
constexpr std::uint64_t guard_bit = 1;  // set in an end_guard's address

std::uint64_t tag_of(const operation& of) { return reinterpret_cast<std::uint64_t>(&of); }

}  // namespace

// Keeps the bytes of a send, and how the kernel is told of them, until the kernel is done.
struct uring_loop::sending : operation {
  using operation::operation;
  std::array<slice, max_send_slices> data;
  std::array<iovec, max_send_slices> vectors{};
  msghdr header{};
  socket_address to;
};

// The ring's own way, a splice, is work for another thread of the kernel. So the socket is given
// what it takes at once, and polled when it takes nothing.
struct uring_loop::sending_file : operation {
  using operation::operation;
  file_part from;
};

// Keeps an address (connect) or the shape of what is received (receive_from) for the kernel.
struct uring_loop::addressed : operation {
  using operation::operation;
  socket_address address;
  msghdr header{};
};

// Polls a stream for its end beside the receive: kernels up to 6.18 at least lose the end of a
// stream whose reset comes right behind its data (the multishot receive reads the data, and its
// poll takes both wake-ups for one). The kernel holds it until its one completion.
struct uring_loop::end_guard {
  receiving* of;  // null once that is gone
};

struct uring_loop::receiving : operation {
  receiving(uring_loop& owner_loop, request* asker, int of_fd)
      : operation(kind::receive, asker, of_fd), home(owner_loop) {}
  receiving(const receiving&) = delete;
  receiving& operator=(const receiving&) = delete;
  ~receiving() override { home.drop_guard(*this); }

  uring_loop& home;
  end_guard* guard = nullptr;
  bool starts_again = false;  // it was cancelled only to be submitted again
};

result<std::unique_ptr<loop>> uring_loop::make() {
  std::unique_ptr<uring_loop> made(new uring_loop());
  if (auto ready = made->set_up(); !ready) return std::unexpected(ready.error());
  return made;
}

result<void> uring_loop::set_up() {
  if (auto ready = check_wake_fd(); !ready) return ready;
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                     IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
  parameters.cq_entries = completion_entries;
  const int code = io_uring_queue_init_params(submission_entries, &ring_, &parameters);
  if (code < 0) {
    const auto* remedy =
        code == -EPERM || code == -EACCES
            ? "allow it (sysctl kernel.io_uring_disabled=0, seccomp) or use --loop epoll"
            : "it needs Linux 6.1; use --loop epoll";
    return system_failure(-code, "set up io_uring", remedy);
  }
  ring_open_ = true;
  io_uring_ring_dontfork(&ring_);
  if (auto ready = set_up_buffers(); !ready) return ready;
  watch_wake_fd();
  return {};
}

// By hand, since liburing 2.3 has no io_uring_setup_buf_ring.
result<void> uring_loop::set_up_buffers() {
  const std::size_t size = buffer_ring_size + std::size_t{buffer_count} * buffer_size;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
  if (memory == MAP_FAILED) return system_failure(errno, "map the receive buffers");
  buffer_ring_ = static_cast<io_uring_buf_ring*>(memory);
  buffer_memory_ = static_cast<std::byte*>(memory) + buffer_ring_size;
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uint64_t>(buffer_ring_);
  registration.ring_entries = buffer_count;
  registration.bgid = buffer_group;
  const int code = io_uring_register_buf_ring(&ring_, &registration, 0);
  if (code < 0) {
    return system_failure(-code, "register io_uring's buffer ring",
                          "it needs Linux 6.1; use --loop epoll");
  }
  io_uring_buf_ring_init(buffer_ring_);
  offered_ = least_offered;
  for (std::uint32_t id = 0; id < buffer_count; ++id) give_back(id);
  return {};
}

uring_loop::~uring_loop() {
  end_tasks();
  if (!ring_open_) return;
  // The kernel may still read what operations hold: cancel all and wait for it.
  for (operation* const each : parked_) delete each;
  parked_.clear();
  if (in_flight_ != 0) {
    io_uring_sqe& sqe = next_sqe();
    io_uring_prep_cancel64(&sqe, 0, IORING_ASYNC_CANCEL_ANY);
    io_uring_sqe_set_data64(&sqe, ignored_tag);
  }
  while (in_flight_ != 0) {
    io_uring_submit_and_wait(&ring_, 1);
    reap();
    while (has_events()) turn(false);
  }
  io_uring_queue_exit(&ring_);
  if (buffer_ring_ != nullptr) {
    ::munmap(buffer_ring_, buffer_ring_size + std::size_t{buffer_count} * buffer_size);
  }
}

io_uring_sqe& uring_loop::next_sqe() {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  while (sqe == nullptr) {
    // The kernel refuses new entries (EBUSY) while completions overflow: take those first.
    if (io_uring_submit(&ring_) == -EBUSY) reap();
    sqe = io_uring_get_sqe(&ring_);
  }
  return *sqe;
}

void uring_loop::entrust(io_uring_sqe& sqe, const operation& of) {
  io_uring_sqe_set_data64(&sqe, tag_of(of));
  ++in_flight_;
}

void uring_loop::accept(const descriptor& on, request& asker) {
  auto* made = new operation(operation::kind::accept, &asker, on.fd());
  attach(asker, *made);
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_multishot_accept(&sqe, on.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  entrust(sqe, *made);
}

void uring_loop::receive(const descriptor& on, request& asker) {
  auto* made = new receiving(*this, &asker, on.fd());
  attach(asker, *made);
  submit_receive(*made);
  watch_for_end(*made);
}

void uring_loop::receive_from(const descriptor& on, request& asker) {
  auto* made = new addressed(operation::kind::receive_from, &asker, on.fd());
  made->header.msg_namelen = sizeof(sockaddr_storage);
  attach(asker, *made);
  submit_receive(*made);
}

void uring_loop::submit_receive(operation& of) {
  if (buffers_free_ == 0) {
    parked_.push_back(&of);
    return;
  }
  io_uring_sqe& sqe = next_sqe();
  if (of.type == operation::kind::receive) {
    io_uring_prep_recv_multishot(&sqe, of.fd, nullptr, 0, 0);
  } else {
    io_uring_prep_recvmsg_multishot(&sqe, of.fd, &static_cast<addressed&>(of).header, MSG_TRUNC);
  }
  sqe.flags |= IOSQE_BUFFER_SELECT;
  sqe.buf_group = buffer_group;
  entrust(sqe, of);
}

void uring_loop::watch_for_end(receiving& of) {
  of.guard = new end_guard{&of};
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_poll_add(&sqe, of.fd, POLLRDHUP);  // and POLLERR, POLLHUP, as ever
  io_uring_sqe_set_data64(&sqe, reinterpret_cast<std::uint64_t>(of.guard) | guard_bit);
  ++in_flight_;
}

void uring_loop::drop_guard(receiving& of) {
  end_guard* const left = std::exchange(of.guard, nullptr);
  if (left == nullptr) return;
  left->of = nullptr;
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_cancel64(&sqe, reinterpret_cast<std::uint64_t>(left) | guard_bit, 0);
  io_uring_sqe_set_data64(&sqe, ignored_tag);
}

void uring_loop::take_guard(end_guard* fired) {
  --in_flight_;
  if (fired->of != nullptr) {
    fired->of->guard = nullptr;
    ended_.push_back(fired->of);
  }
  delete fired;
}

// The streams are at their end, and what their receives did not tell by now they may never tell. A
// receive that starts now sees all that is left.
void uring_loop::restart_ended() {
  for (receiving* const each : std::exchange(ended_, {})) {
    if (std::ranges::find(parked_, each) != parked_.end()) continue;
    each->starts_again = true;
    io_uring_sqe& sqe = next_sqe();
    io_uring_prep_cancel64(&sqe, tag_of(*each), 0);
    io_uring_sqe_set_data64(&sqe, ignored_tag);
  }
}

void uring_loop::submit_parked() {
  auto waiting = std::exchange(parked_, {});
  for (operation* const each : waiting) submit_receive(*each);
}

void uring_loop::send(const descriptor& on, std::span<const slice> data, request& asker) {
  auto* made = new sending(operation::kind::send, &asker, on.fd());
  attach(asker, *made);
  const auto count = std::min(data.size(), max_send_slices);
  std::copy_n(data.begin(), count, made->data.begin());
  io_uring_sqe& sqe = next_sqe();
  if (count == 1) {
    const auto bytes = made->data[0].bytes();
    io_uring_prep_send(&sqe, on.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const auto bytes = made->data[i].bytes();
      made->vectors[i] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    }
    made->header.msg_iov = made->vectors.data();
    made->header.msg_iovlen = count;
    io_uring_prep_sendmsg(&sqe, on.fd(), &made->header, MSG_NOSIGNAL);
  }
  entrust(sqe, *made);
}

void uring_loop::send_file(const descriptor& on, const file_part& from, request& asker) {
  auto* made = new sending_file(operation::kind::send_file, &asker, on.fd());
  made->from = from;
  attach(asker, *made);
  step_send_file(*made);
}

void uring_loop::step_send_file(sending_file& of) {
  const int taken = send_file_now(of.fd, of.from);
  if (taken != -EAGAIN) {
    queue({.of = &of, .result = taken, .more = false, .data = {}, .from = {}});
    return;
  }
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_poll_add(&sqe, of.fd, POLLOUT);
  entrust(sqe, of);
}

void uring_loop::send_to(const descriptor& on, const socket_address& to, slice datagram,
                         request& asker) {
  auto* made = new sending(operation::kind::send_to, &asker, on.fd());
  attach(asker, *made);
  made->data[0] = std::move(datagram);
  made->to = to;
  const auto bytes = made->data[0].bytes();
  made->vectors[0] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  made->header.msg_iov = made->vectors.data();
  made->header.msg_iovlen = 1;
  if (to.size() != 0) {
    made->header.msg_name = const_cast<sockaddr*>(made->to.data());
    made->header.msg_namelen = to.size();
  }
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_sendmsg(&sqe, on.fd(), &made->header, MSG_NOSIGNAL);
  entrust(sqe, *made);
}

void uring_loop::connect(const descriptor& on, const socket_address& to, request& asker) {
  auto* made = new addressed(operation::kind::connect, &asker, on.fd());
  attach(asker, *made);
  made->address = to;
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_connect(&sqe, on.fd(), made->address.data(), made->address.size());
  entrust(sqe, *made);
}

void uring_loop::poll(const descriptor& on, unsigned events, request& asker) {
  auto* made = new operation(operation::kind::poll, &asker, on.fd());
  attach(asker, *made);
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_poll_add(&sqe, on.fd(), events);
  entrust(sqe, *made);
}

void uring_loop::write(const descriptor& to, slice data, request& asker) {
  auto* made = new sending(operation::kind::write, &asker, to.fd());
  attach(asker, *made);
  made->data[0] = std::move(data);
  const auto bytes = made->data[0].bytes();
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_write(&sqe, to.fd(), bytes.data(), static_cast<unsigned>(bytes.size()),
                      static_cast<std::uint64_t>(-1));
  entrust(sqe, *made);
}

void uring_loop::sync(const descriptor& file, request& asker) {
  auto* made = new operation(operation::kind::sync, &asker, file.fd());
  attach(asker, *made);
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_fsync(&sqe, file.fd(), IORING_FSYNC_DATASYNC);
  entrust(sqe, *made);
}

// Through the ring, behind all that was asked of the descriptor: were it closed at once, an entry
// not yet submitted could reach the next owner of the same number.
void uring_loop::close_fd(int fd) {
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_close(&sqe, fd);
  io_uring_sqe_set_data64(&sqe, ignored_tag);
}

void uring_loop::cancel(operation& which) {
  if (which.type == operation::kind::receive) {
    auto& ending = static_cast<receiving&>(which);
    ending.starts_again = false;
    drop_guard(ending);
  }
  if (const auto found = std::ranges::find(parked_, &which); found != parked_.end()) {
    parked_.erase(found);
    queue({.of = &which, .result = -ECANCELED, .more = false, .data = {}, .from = {}});
    return;
  }
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_cancel64(&sqe, tag_of(which), 0);
  io_uring_sqe_set_data64(&sqe, ignored_tag);
}

// From another io_uring loop a message goes ring to ring, with that loop's next submission; from
// any other thread the eventfd does it.
void uring_loop::wake() {
  auto* const here = dynamic_cast<uring_loop*>(current());
  if (here == nullptr || here == this) {
    os_loop::wake();
    return;
  }
  io_uring_sqe& sqe = here->next_sqe();
  io_uring_prep_msg_ring(&sqe, ring_.ring_fd, 0, wake_message_tag, 0);
  io_uring_sqe_set_data64(&sqe, ignored_tag);
}

void uring_loop::watch_wake_fd() {
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_poll_multishot(&sqe, wake_fd(), POLLIN);
  io_uring_sqe_set_data64(&sqe, wake_fd_tag);
}

void uring_loop::wait(time_point deadline) {
  while (buffers_free_ < offered_ && !resting_.empty()) {
    offer(resting_.back());
    resting_.pop_back();
  }
  if (!parked_.empty() && buffers_free_ != 0) submit_parked();
  const auto left = deadline == time_point::min() ? duration::zero() : deadline - read_clock();
  if (has_events() || left <= duration::zero()) {
    io_uring_submit_and_get_events(&ring_);
  } else if (deadline == time_point::max()) {
    io_uring_submit_and_wait(&ring_, 1);
  } else {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    __kernel_timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    io_uring_cqe* first = nullptr;
    // EINTR (a signal, a debugger) and ETIME end the wait early, and the next turn waits again.
    io_uring_submit_and_wait_timeout(&ring_, &first, 1, &timeout, nullptr);
  }
  reap();
}

void uring_loop::reap() {
  unsigned head = 0;
  unsigned count = 0;
  io_uring_cqe* entry = nullptr;
  io_uring_for_each_cqe(&ring_, head, entry) {
    take(*entry);
    ++count;
  }
  io_uring_cq_advance(&ring_, count);
  if (buffers_free_ < offered_ / 2) {
    calm_ = 0;
  } else if (++calm_ == calm_reaps) {
    calm_ = 0;
    offered_ = std::max(offered_ / 2, least_offered);
  }
  restart_ended();
}

// A receive's last completion: says whether it goes on nevertheless.
bool uring_loop::takes_up_again(receiving& ended, int result) {
  std::erase(ended_, &ended);
  if (!std::exchange(ended.starts_again, false) || result != -ECANCELED) return false;
  submit_receive(ended);
  return true;
}

void uring_loop::take(const io_uring_cqe& entry) {
  const bool more = (entry.flags & IORING_CQE_F_MORE) != 0;
  if (entry.user_data == wake_fd_tag) {
    drain_wake_fd();
    if (!more) watch_wake_fd();
    return;
  }
  if (entry.user_data == ignored_tag || entry.user_data == wake_message_tag) return;
  if ((entry.user_data & guard_bit) != 0) {
    take_guard(reinterpret_cast<end_guard*>(entry.user_data & ~guard_bit));
    return;
  }
  auto* const of = reinterpret_cast<operation*>(entry.user_data);
  if (!more) {
    --in_flight_;
    if (of->type == operation::kind::receive &&
        takes_up_again(static_cast<receiving&>(*of), entry.res)) {
      return;
    }
    if (of->type == operation::kind::send_file && of->requester != nullptr && entry.res > 0) {
      step_send_file(static_cast<sending_file&>(*of));
      return;
    }
  }
  if (entry.res == -ENOBUFS) offered_ = std::min(offered_ * 2, buffer_count);
  event reaped{.of = of, .result = entry.res, .more = more, .data = {}, .from = {}};
  if ((entry.flags & IORING_CQE_F_BUFFER) != 0) {
    const std::uint32_t id = entry.flags >> IORING_CQE_BUFFER_SHIFT;
    --buffers_free_;
    const auto size = static_cast<std::size_t>(std::max(entry.res, 0));
    if (of->type == operation::kind::receive_from) {
      auto& shape = static_cast<addressed*>(of)->header;
      std::byte* const memory = buffer_memory_ + std::size_t{id} * buffer_size;
      buffer whole = lend(id, size);
      auto* const out = io_uring_recvmsg_validate(memory, static_cast<int>(size), &shape);
      if (out == nullptr) {
        reaped.result = -EMSGSIZE;
      } else {
        const auto* const name = static_cast<const sockaddr*>(io_uring_recvmsg_name(out));
        const auto* const payload =
            static_cast<const std::byte*>(io_uring_recvmsg_payload(out, &shape));
        const auto room = io_uring_recvmsg_payload_length(out, static_cast<int>(size), &shape);
        const bool cut = (out->flags & MSG_TRUNC) != 0;
        reaped.from = socket_address(name, out->namelen);
        reaped.result = cut ? -EMSGSIZE : static_cast<int>(room);
        reaped.data = std::move(whole).narrowed({payload, room});
      }
    } else {
      reaped.data = lend(id, size);
    }
  }
  queue(std::move(reaped));
}

buffer uring_loop::lend(std::uint32_t id, std::size_t size) {
  return {*this, id, byte_span{buffer_memory_ + std::size_t{id} * buffer_size, size}};
}

void uring_loop::give_back(std::uint32_t id) {
  if (buffers_free_ < offered_) {
    offer(id);
  } else {
    resting_.push_back(id);
  }
}

void uring_loop::offer(std::uint32_t id) {
  io_uring_buf_ring_add(buffer_ring_, buffer_memory_ + std::size_t{id} * buffer_size, buffer_size,
                        static_cast<std::uint16_t>(id), io_uring_buf_ring_mask(buffer_count), 0);
  io_uring_buf_ring_advance(buffer_ring_, 1);
  ++buffers_free_;
}

}  // namespace strata::loop
