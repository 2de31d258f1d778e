// Sends one Ethernet frame: send_frame INTERFACE TEXT
#include <cstdio>
#include <strata/l2/raw_socket.hpp>
#include <strata/wire/ethernet.hpp>

using namespace strata;

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: send_frame INTERFACE TEXT"), 2;
  auto socket = l2::raw_socket::create_bound(argv[1]);
  if (!socket) return std::puts(describe(socket.error()).c_str()), 1;
  const auto frame = wire::build_simple_frame(mac_address::broadcast(), socket->link().mac, 0x88B5,
                                              as_bytes(argv[2]));
  if (!frame) return std::puts(describe(frame.error()).c_str()), 1;
  const auto sent = socket->send_raw(*frame);
  if (!sent) return std::puts(describe(sent.error()).c_str()), 1;
}
