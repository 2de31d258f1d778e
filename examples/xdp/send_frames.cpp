// Sends three frames of EtherType 0x88b5 to all, by AF_XDP, in one batch: send_frames INTERFACE
// TEXT
#include <array>
#include <cstdio>
#include <strata/wire/ethernet.hpp>
#include <strata/xdp/port.hpp>
#include <string_view>

using namespace strata;

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: send_frames INTERFACE TEXT"), 2;
  // Without a receive ring no program is attached.
  auto port = xdp::port::open(argv[1], 0, {.socket = {.receive_size = 0}});
  if (!port) return std::puts(describe(port.error()).c_str()), 1;
  const auto from = mac_address::from_text("02:00:00:00:00:01");
  const auto frame = wire::build_simple_frame(mac_address::broadcast(), *from, 0x88B5,
                                              as_bytes(std::string_view(argv[2])));
  if (!frame) return std::puts(describe(frame.error()).c_str()), 1;
  const std::array<byte_span, 3> frames = {*frame, *frame, *frame};
  const auto sent = port->try_send(frames);
  if (!sent) return std::puts(describe(sent.error()).c_str()), 1;
  std::printf("%zu sent\n", *sent);
}
