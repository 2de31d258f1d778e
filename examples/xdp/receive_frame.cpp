// Waits ten seconds for a frame of EtherType 0x88b5 by AF_XDP and shows it; all other frames go on
// to the kernel: receive_frame INTERFACE
#include <array>
#include <cstdio>
#include <strata/wire/ethernet.hpp>
#include <strata/xdp/port.hpp>

using namespace strata;

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: receive_frame INTERFACE"), 2;
  auto port = xdp::port::open(argv[1], 0, {.which = {.ethertype = 0x88B5}});
  if (!port) return std::puts(describe(port.error()).c_str()), 1;
  const auto ready = port->wait_readable(std::chrono::seconds(10));
  if (!ready) return std::puts(describe(ready.error()).c_str()), 1;
  std::array<byte_span, 1> frames;
  const auto count = port->try_receive(frames);
  if (!count || *count == 0) return std::puts("nothing came"), 1;
  const auto view = wire::ethernet_view::parse(frames[0]);
  if (!view) return 1;
  const auto text = as_text(view->message());
  std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
}
