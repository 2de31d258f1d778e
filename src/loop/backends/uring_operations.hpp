// What an io_uring loop keeps for its requests under way. For uring_loop.cpp alone.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>

#include "loop/backends/uring_loop.hpp"
#include "loop/datagram_buffers.hpp"

namespace strata::loop {

// Keeps the bytes of a send, and how the kernel is told of them, until the kernel is done.
struct uring_loop::sending : operation {
  using operation::operation;
  std::array<slice, max_send_slices> data;
  std::array<iovec, max_send_slices> vectors{};
  msghdr header{};
  socket_address to;
  std::size_t count = 0;     // slices of a stream's send
  bool awaits_room = false;  // the kernel polls for it
};

struct uring_loop::sending_datagram : sending {
  using sending::sending;
  datagram_control control;
};

// The ring's own way, a splice, is work for another thread of the kernel. So the socket is given
// what it takes at once, and polled when it takes nothing.
struct uring_loop::sending_file : operation {
  using operation::operation;
  file_part from;
};

// Keeps the address for the kernel.
struct uring_loop::connecting : operation {
  using operation::operation;
  socket_address address;
};

// Receives into the ring's buffers, or waits for one: then the kernel does not have it.
struct uring_loop::receiving : operation, buffer_seeker {
  receiving(kind kind, request* asker, int of_fd)
      : operation(kind, asker, of_fd), buffer_seeker(of_fd) {}
  /// Whether it is handed over again when the kernel has ended it with bytes.
  [[nodiscard]] bool goes_on() const { return !is_cancelled && !is_single; }

  bool is_cancelled = false;
  bool is_single = false;  // it ends with the first bytes
};

// Keeps the shape of what is received for the kernel.
struct uring_loop::receiving_datagrams : receiving {
  using receiving::receiving;
  msghdr header{};
};

// Polls a stream for its end beside the receives: kernels up to 6.18 at least lose the end of a
// stream whose reset comes right behind its data (the multishot receive reads the data, and its
// poll takes both wake-ups for one). One for as long as the stream is open, however often it is
// received from: the kernel finds a poll that is to be cancelled by a search among thousands.
struct uring_loop::end_guard {
  int fd;  // -1 once that is closed
};

struct uring_loop::receiving_stream : receiving {
  receiving_stream(uring_loop& owner_loop, request* asker, int of_fd)
      : receiving(kind::receive, asker, of_fd), home(owner_loop) {}
  receiving_stream(const receiving_stream&) = delete;
  receiving_stream& operator=(const receiving_stream&) = delete;
  ~receiving_stream() override { home.leave(*this); }

  uring_loop& home;
  std::uint64_t begun_in = 0;  // the turn
  bool starts_again = false;   // it was cancelled only to be submitted again
};

}  // namespace strata::loop
