#include "loop/backends/uring_loop.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "loop/backends/uring_operations.hpp"

namespace strata::loop {

namespace {

constexpr unsigned submission_entries = 1024;
constexpr unsigned completion_entries = 16384;

// Values of user_data that are not an operation's address.
constexpr std::uint64_t ignored_tag = 0;
constexpr std::uint64_t wake_fd_tag = 2;
constexpr std::uint64_t wake_message_tag = 4;
constexpr std::uint64_t guard_bit = 1;  // set in an end_guard's address

std::uint64_t tag_of(const operation& operation) {
  return reinterpret_cast<std::uint64_t>(&operation);
}

}  // namespace

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
  if (auto ready = buffers_.set_up(ring_); !ready) return ready;
  watch_wake_fd();
  return {};
}

uring_loop::~uring_loop() {
  end_tasks();
  if (!ring_open_) return;
  is_ending_ = true;
  // The kernel may still read memory of the operations: cancel all and wait for the kernel.
  seekers_.drain([](buffer_seeker& one) { delete static_cast<receiving*>(&one); });
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
}

io_uring_sqe& uring_loop::next_sqe() {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  while (sqe == nullptr) {
    // The kernel rejects new entries (EBUSY) while completions overflow: reap those first.
    if (io_uring_submit(&ring_) == -EBUSY) reap();
    sqe = io_uring_get_sqe(&ring_);
  }
  return *sqe;
}

void uring_loop::entrust(io_uring_sqe& sqe, const operation& operation) {
  io_uring_sqe_set_data64(&sqe, tag_of(operation));
  ++in_flight_;
}

void uring_loop::accept(const descriptor& descriptor, request& asker) {
  auto* made = new operation(operation::kind::accept, &asker, descriptor.fd());
  attach(asker, *made);
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_multishot_accept(&sqe, descriptor.fd(), nullptr, nullptr,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK);
  entrust(sqe, *made);
}

void uring_loop::receive(const descriptor& descriptor, request& asker) {
  auto* made = new receiving_stream(*this, &asker, descriptor.fd());
  attach(asker, *made);
  submit_receive(*made);
  watch_for_end(*made);
}

void uring_loop::receive_from(const descriptor& descriptor, request& asker) {
  auto* made = new receiving_datagrams(operation::kind::receive_from, &asker, descriptor.fd());
  made->header.msg_namelen = sizeof(sockaddr_storage);
  made->header.msg_controllen = datagram_control::size;
  attach(asker, *made);
  submit_receive(*made);
}

void uring_loop::submit_receive(receiving& receiving) {
  if (buffers_.free() == 0 || seekers_.must_enter(receiving)) {
    seekers_.enter(receiving);
  } else {
    hand_over(receiving);
  }
}

void uring_loop::hand_over(receiving& receiving) {
  io_uring_sqe& sqe = next_sqe();
  if (receiving.type == operation::kind::receive_from) {
    io_uring_prep_recvmsg_multishot(
        &sqe, receiving.fd, &static_cast<receiving_datagrams&>(receiving).header, MSG_TRUNC);
  } else if (takes_many(static_cast<receiving_stream&>(receiving))) {
    io_uring_prep_recv_multishot(&sqe, receiving.fd, nullptr, 0, 0);
  } else {
    io_uring_prep_recv(&sqe, receiving.fd, nullptr, buffers_.size(), 0);
  }
  uring_buffers::select(sqe);
  entrust(sqe, receiving);
}

// If the reader was busy when bytes arrived, a multishot receive would only be cancelled again; a
// receive that ends with its first bytes does not have to be. Single receives are used until one
// has to wait for its bytes.
bool uring_loop::takes_many(receiving_stream& stream) {
  stream.is_single = watch_of(stream.fd).is_reader_slow;
  stream.begun_in = turns_;
  return !stream.is_single && seekers_.may_take_many(stream);
}

uring_loop::stream_watch& uring_loop::watch_of(int fd) {
  const auto at = static_cast<std::size_t>(fd);
  if (at >= watches_.size()) watches_.resize(std::max(at + 1, 2 * watches_.size()));
  return watches_[at];
}

void uring_loop::watch_for_end(receiving_stream& stream) {
  auto& watch = watch_of(stream.fd);
  watch.reader = &stream;
  // A receive that starts after the end receives all that is left.
  if (watch.guard != nullptr || watch.has_ended) return;
  watch.guard = new end_guard{stream.fd};
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_poll_add(&sqe, stream.fd, POLLRDHUP);  // POLLERR and POLLHUP are implied
  io_uring_sqe_set_data64(&sqe, reinterpret_cast<std::uint64_t>(watch.guard) | guard_bit);
  ++in_flight_;
}

void uring_loop::leave(const receiving_stream& stream) {
  auto& watch = watch_of(stream.fd);
  if (watch.reader == &stream) watch.reader = nullptr;
}

void uring_loop::end(const receiving_stream& stream) {
  leave(stream);
  if (stream.is_single && stream.begun_in != turns_) watch_of(stream.fd).is_reader_slow = false;
}

void uring_loop::forget(int fd) {
  end_guard* const left = std::exchange(watch_of(fd), {}).guard;
  if (left == nullptr) return;
  left->fd = -1;
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_cancel64(&sqe, reinterpret_cast<std::uint64_t>(left) | guard_bit, 0);
  io_uring_sqe_set_data64(&sqe, ignored_tag);
}

void uring_loop::take_guard(end_guard* fired, int result) {
  --in_flight_;
  if (fired->fd >= 0) {
    auto& watch = watch_of(fired->fd);
    watch.guard = nullptr;
    watch.has_ended = result != -ECANCELED;
    if (watch.has_ended && watch.reader != nullptr) ended_.push_back(fired->fd);
  }
  delete fired;
}

// These streams have ended, and their receives may never report data that they have not reported by
// now.
void uring_loop::restart_ended() {
  for (const int fd : std::exchange(ended_, {})) {
    auto* const reader = watch_of(fd).reader;
    if (reader == nullptr || reader->is_linked()) continue;
    reader->starts_again = true;
    io_uring_sqe& sqe = next_sqe();
    io_uring_prep_cancel64(&sqe, tag_of(*reader), 0);
    io_uring_sqe_set_data64(&sqe, ignored_tag);
  }
}

void uring_loop::submit_waiting() {
  seekers_.serve(buffers_.free(),
                 [this](buffer_seeker& one) { hand_over(static_cast<receiving&>(one)); });
}

void uring_loop::send(const descriptor& descriptor, std::span<const slice> data, request& asker) {
  auto* made = new sending(operation::kind::send, &asker, descriptor.fd());
  attach(asker, *made);
  made->count = std::min(data.size(), max_send_slices);
  std::copy_n(data.begin(), made->count, made->data.begin());
  submit_send(*made);
}

void uring_loop::submit_send(sending& sending) {
  io_uring_sqe& sqe = next_sqe();
  if (sending.count == 1) {
    const auto bytes = sending.data[0].bytes();
    io_uring_prep_send(&sqe, sending.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } else {
    for (std::size_t i = 0; i < sending.count; ++i) {
      const auto bytes = sending.data[i].bytes();
      sending.vectors[i] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    }
    sending.header.msg_iov = sending.vectors.data();
    sending.header.msg_iovlen = sending.count;
    io_uring_prep_sendmsg(&sqe, sending.fd, &sending.header, MSG_NOSIGNAL);
  }
  entrust(sqe, sending);
}

// On kernels up to at least 6.18, a stream's send that finds no room fails with EAGAIN if a Unix
// socket's reader is quick: the send was woken too often for too little room. So the loop polls for
// room.
bool uring_loop::sends_again(sending& sending, int result) {
  if (sending.requester == nullptr || is_ending_) return false;
  if (std::exchange(sending.awaits_room, false) && result > 0) {
    submit_send(sending);
    return true;
  }
  if (result != -EAGAIN) return false;
  sending.awaits_room = true;
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_poll_add(&sqe, sending.fd, POLLOUT);
  entrust(sqe, sending);
  return true;
}

void uring_loop::send_file(const descriptor& descriptor, const file_part& part, request& asker) {
  auto* made = new sending_file(operation::kind::send_file, &asker, descriptor.fd());
  made->from = part;
  attach(asker, *made);
  step_send_file(*made);
}

void uring_loop::step_send_file(sending_file& file) {
  const int taken = send_file_now(file.fd, file.from);
  if (taken != -EAGAIN) {
    queue({.of = &file, .result = taken, .more = false, .data = {}, .from = {}});
    return;
  }
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_poll_add(&sqe, file.fd, POLLOUT);
  entrust(sqe, file);
}

void uring_loop::send_to(const descriptor& descriptor, const socket_address& address,
                         slice datagram, request& asker) {
  auto* made = new sending_datagram(operation::kind::send_to, &asker, descriptor.fd());
  attach(asker, *made);
  made->data[0] = std::move(datagram);
  made->to = address;
  const auto bytes = made->data[0].bytes();
  made->vectors[0] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  made->header.msg_iov = made->vectors.data();
  made->header.msg_iovlen = 1;
  if (address.size() != 0) {
    made->header.msg_name = const_cast<sockaddr*>(made->to.data());
    made->header.msg_namelen = address.size();
    say_source(made->to, made->control, made->header);
  }
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_sendmsg(&sqe, descriptor.fd(), &made->header, MSG_NOSIGNAL);
  entrust(sqe, *made);
}

void uring_loop::connect(const descriptor& descriptor, const socket_address& address,
                         request& asker) {
  auto* made = new connecting(operation::kind::connect, &asker, descriptor.fd());
  attach(asker, *made);
  made->address = address;
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_connect(&sqe, descriptor.fd(), made->address.data(), made->address.size());
  entrust(sqe, *made);
}

void uring_loop::poll(const descriptor& descriptor, unsigned events, request& asker) {
  auto* made = new operation(operation::kind::poll, &asker, descriptor.fd());
  attach(asker, *made);
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_poll_add(&sqe, descriptor.fd(), events);
  entrust(sqe, *made);
}

void uring_loop::write(const descriptor& descriptor, slice data, request& asker) {
  auto* made = new sending(operation::kind::write, &asker, descriptor.fd());
  attach(asker, *made);
  made->data[0] = std::move(data);
  const auto bytes = made->data[0].bytes();
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_write(&sqe, descriptor.fd(), bytes.data(), static_cast<unsigned>(bytes.size()),
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

// Closes through the ring, after all earlier requests on the descriptor: if it were closed at once,
// an entry not yet submitted could reach the next owner of the same number.
void uring_loop::close_fd(int fd) {
  seekers_.forget(fd);
  forget(fd);
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_close(&sqe, fd);
  io_uring_sqe_set_data64(&sqe, ignored_tag);
}

bool uring_loop::stop_receiving(receiving& receiving) {
  receiving.is_cancelled = true;
  if (receiving.type == operation::kind::receive) {
    auto& ending = static_cast<receiving_stream&>(receiving);
    ending.starts_again = false;
    auto& watch = watch_of(ending.fd);
    if (watch.reader == &ending) watch.is_reader_slow = true;
    leave(ending);
  }
  if (!receiving.is_linked()) return true;
  receiving.unlink();
  queue({.of = &receiving, .result = -ECANCELED, .more = false, .data = {}, .from = {}});
  return false;
}

void uring_loop::cancel(operation& operation) {
  if (operation.is_receive() && !stop_receiving(static_cast<receiving&>(operation))) return;
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_cancel64(&sqe, tag_of(operation), 0);
  io_uring_sqe_set_data64(&sqe, ignored_tag);
}

// A wake-up from another io_uring loop goes from ring to ring, with that loop's next submission;
// from any other thread it uses the eventfd.
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
  ++turns_;
  buffers_.refill();
  submit_waiting();
  // Buffers may be left if the submitted receives have nothing to receive.
  if (!seekers_.is_empty() && buffers_.free() != 0) deadline = time_point::min();
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
  buffers_.note_reap();
  seekers_.note_turn(std::chrono::microseconds(lag().last_us));
  restart_ended();
}

// Handles a receive's last completion; reports whether the receive continues nevertheless.
bool uring_loop::takes_up_again(receiving& ended, int result) {
  bool starts_again = false;
  if (ended.type == operation::kind::receive) {
    starts_again = std::exchange(static_cast<receiving_stream&>(ended).starts_again, false);
  }
  if (ended.is_cancelled || is_ending_) return false;
  if (result == -ENOBUFS) {
    buffers_.note_want();
    seekers_.enter(ended);
    return true;
  }
  if (!starts_again || result != -ECANCELED) return false;
  submit_receive(ended);
  return true;
}

void uring_loop::take(const io_uring_cqe& entry) {
  bool more = (entry.flags & IORING_CQE_F_MORE) != 0;
  if (entry.user_data == wake_fd_tag) {
    drain_wake_fd();
    if (!more) watch_wake_fd();
    return;
  }
  if (entry.user_data == ignored_tag || entry.user_data == wake_message_tag) return;
  if ((entry.user_data & guard_bit) != 0) {
    take_guard(reinterpret_cast<end_guard*>(entry.user_data & ~guard_bit), entry.res);
    return;
  }
  auto* const of = reinterpret_cast<operation*>(entry.user_data);
  const bool goes_on = !more && entry.res > 0 && of->is_receive() && !is_ending_ &&
                       static_cast<receiving*>(of)->goes_on();
  if (!more) {
    --in_flight_;
    more = goes_on;
    if (of->is_receive() && takes_up_again(static_cast<receiving&>(*of), entry.res)) return;
    if (of->type == operation::kind::receive && !goes_on) end(static_cast<receiving_stream&>(*of));
    if (of->type == operation::kind::send && sends_again(static_cast<sending&>(*of), entry.res)) {
      return;
    }
    if (of->type == operation::kind::send_file && of->requester != nullptr && entry.res > 0) {
      step_send_file(static_cast<sending_file&>(*of));
      return;
    }
  }
  event reaped{.of = of, .result = entry.res, .more = more, .data = {}, .from = {}};
  if ((entry.flags & IORING_CQE_F_BUFFER) != 0) take_bytes(entry, reaped);
  queue(std::move(reaped));
  if (goes_on) submit_receive(static_cast<receiving&>(*of));
}

void uring_loop::take_bytes(const io_uring_cqe& entry, event& reaped) {
  auto taken = buffers_.take(entry);
  if (reaped.of->type == operation::kind::receive_from) {
    take_datagram(std::move(taken), reaped);
  } else {
    seekers_.note_received(reaped.of->fd, taken.bytes().size(), buffers_.size());
    reaped.data = std::move(taken);
  }
}

// The kernel writes the sender and the layout in front of the datagram.
void uring_loop::take_datagram(buffer whole, event& reaped) {
  auto& shape = static_cast<receiving_datagrams*>(reaped.of)->header;
  const auto size = static_cast<int>(whole.bytes().size());
  auto* const out = io_uring_recvmsg_validate(whole.writable().data(), size, &shape);
  if (out == nullptr) {
    reaped.result = -EMSGSIZE;
    return;
  }
  const auto* const name = static_cast<const sockaddr*>(io_uring_recvmsg_name(out));
  const auto* const payload = static_cast<const std::byte*>(io_uring_recvmsg_payload(out, &shape));
  const auto room = io_uring_recvmsg_payload_length(out, size, &shape);
  const bool is_cut = (out->flags & MSG_TRUNC) != 0;
  reaped.from = socket_address(name, out->namelen);
  if (out->controllen != 0) {
    const msghdr reported{.msg_control = reinterpret_cast<std::byte*>(out + 1) + shape.msg_namelen,
                          .msg_controllen = out->controllen};
    note_source(reported, reaped.from);
  }
  reaped.result = is_cut ? -EMSGSIZE : static_cast<int>(room);
  reaped.data = std::move(whole).narrowed({payload, room});
}

}  // namespace strata::loop
