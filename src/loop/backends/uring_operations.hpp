// An io_uring loop's state of its pending requests. For uring_loop.cpp alone.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>

#include "loop/backends/uring_loop.hpp"
#include "loop/datagram_buffers.hpp"

namespace strata::loop {

// Keeps the bytes of a send, and the structures that describe them, until the kernel is done.
struct uring_loop::sending : operation {
  using operation::operation;
  std::array<slice, max_send_slices> data;
  std::array<iovec, max_send_slices> vectors{};
  msghdr header{};
  socket_address to;
  std::size_t count = 0;     // slices of a stream's send
  bool awaits_room = false;  // the kernel polls for room
};

struct uring_loop::sending_datagram : sending {
  using sending::sending;
  datagram_control control;
};

// A splice through the ring would run on another kernel thread. So the file is sent directly as far
// as the socket accepts it, and the socket is polled when it accepts nothing.
struct uring_loop::sending_file : operation {
  using operation::operation;
  file_part from;
};

// Keeps the address for the kernel.
struct uring_loop::connecting : operation {
  using operation::operation;
  socket_address address;
};

// Receives into the ring's buffers, or waits for a buffer, in which case the kernel does not have
// it.
struct uring_loop::receiving : operation, buffer_seeker {
  receiving(kind kind, request* asker, int of_fd)
      : operation(kind, asker, of_fd), buffer_seeker(of_fd) {}
  /// Reports whether the receive is submitted again after the kernel ended it with bytes.
  [[nodiscard]] bool goes_on() const { return !is_cancelled && !is_single; }

  bool is_cancelled = false;
  bool is_single = false;  // ends with the first bytes
};

// Keeps, for the kernel, the layout of received datagrams.
struct uring_loop::receiving_datagrams : receiving {
  using receiving::receiving;
  msghdr header{};
};

// Polls a stream for its end in parallel with the receives: kernels up to at least 6.18 lose the
// end of a stream whose reset directly follows its data (the multishot receive reads the data, and
// its poll merges the two wake-ups). There is one guard for as long as the stream is open, however
// often it is received from: to cancel a poll, the kernel searches among thousands.
struct uring_loop::end_guard {
  int fd;  // -1 once the descriptor is closed
};

struct uring_loop::receiving_stream : receiving {
  receiving_stream(uring_loop& owner_loop, request* asker, int of_fd)
      : receiving(kind::receive, asker, of_fd), home(owner_loop) {}
  receiving_stream(const receiving_stream&) = delete;
  receiving_stream& operator=(const receiving_stream&) = delete;
  ~receiving_stream() override { home.leave(*this); }

  uring_loop& home;
  std::uint64_t begun_in = 0;  // turn in which it began
  bool starts_again = false;   // cancelled only to be resubmitted
};

}  // namespace strata::loop
