// The simulated world's state of a socket and of a request; shared by its two .cpp files.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "loop/backends/sim_loop.hpp"

namespace strata::loop {

struct sim_world::sim_operation : operation {
  sim_operation(kind kind, request* asker, int fd, sim_loop& loop)
      : operation(kind, asker, fd), from(loop) {}
  sim_loop& from;
  std::uint64_t id = 0;
  std::string bytes;
  socket_address to;
};

struct sim_world::endpoint {
  enum class role { listener, stream, datagram, file };
  role is = role::stream;
  std::uint64_t id = 0;
  sim_loop* home = nullptr;
  socket_address local;
  socket_address remote;
  bool shares_port = false;

  sim_operation* reader = nullptr;
  std::deque<sim_operation*> writers;

  // listener
  std::deque<std::uint64_t> waiting;  // ids of connections not yet accepted

  // stream
  std::uint64_t peer = 0;  // the other end's id; 0 before and after the connection
  std::string received;
  std::size_t on_the_way = 0;  // sent by the peer, not yet in `received`
  bool peer_ended = false;
  bool reset = false;
  bool send_ended = false;
  time_point last_arrival;  // segments arrive in order

  // datagram
  std::deque<std::pair<socket_address, std::string>> datagrams;

  // file
  std::string path;
};

}  // namespace strata::loop
