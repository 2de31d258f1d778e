// Sends frames of EtherType 0x88b5 back to whoever sent them, by the rings alone: nothing is
// copied. Ends after COUNT frames or ten seconds of silence: echo_frames INTERFACE COUNT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <strata/xdp/program.hpp>
#include <strata/xdp/socket.hpp>

using namespace strata;

namespace {

// A frame is a chunk of the UMEM. It goes round: fill ring, receive ring, transmit ring, completion
// ring, and into the fill ring again.
std::uint32_t echo(xdp::socket& over) {
  const auto& memory = *over.memory();
  const auto sent = over.completion().peek(64);
  const auto room = over.fill().reserve(sent.size());
  for (std::uint32_t i = 0; i < room.size(); ++i) room[i] = memory.frame_of(sent[i]);
  over.fill().submit(room.size());
  over.completion().release(room.size());

  const auto arrived = over.receive().peek(64);
  const auto places = over.transmit().reserve(arrived.size());
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    const auto bytes = memory.bytes(arrived[i]);
    std::swap_ranges(bytes.begin(), bytes.begin() + 6, bytes.begin() + 6);  // the two addresses
    places[i] = arrived[i];
  }
  over.transmit().submit(places.size());
  over.receive().release(places.size());
  (void)over.wake_transmit();
  return places.size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: echo_frames INTERFACE COUNT"), 2;
  auto memory = xdp::umem::create({.frame_count = 2048});
  if (!memory) return std::puts(describe(memory.error()).c_str()), 1;
  auto over = xdp::socket::create(*memory, argv[1], 0);
  if (!over) return std::puts(describe(over.error()).c_str()), 1;
  auto program = xdp::program::attach(argv[1]);
  if (!program) return std::puts(describe(program.error()).c_str()), 1;
  auto route = (*program)->add({.ethertype = 0x88B5}, *over);
  if (!route) return std::puts(describe(route.error()).c_str()), 1;
  const auto places = over->fill().reserve(2048);
  for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = (*memory)->frame_at(i);
  over->fill().submit(places.size());

  std::uint32_t echoed = 0;
  const auto count = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  while (echoed < count) {
    const auto ready = over->wait_readable(std::chrono::seconds(10));
    if (!ready || !*ready) break;
    echoed += echo(*over);
  }
  std::printf("%u echoed, %s, %s\n", echoed, (*program)->is_native() ? "native" : "generic",
              over->is_zerocopy() ? "zero-copy" : "copied by the kernel");
}
