// Waits ten seconds for a frame of EtherType 0x88b5 and shows it: receive_frame INTERFACE
#include <cstdio>
#include <strata/l2/raw_socket.hpp>
#include <strata/wire/ethernet.hpp>
#include <vector>

using namespace strata;

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: receive_frame INTERFACE"), 2;
  auto socket = l2::raw_socket::create_bound(argv[1], {.filter = {.ethertype = 0x88B5}});
  if (!socket) return std::puts(describe(socket.error()).c_str()), 1;
  std::vector<std::byte> memory(65536);
  const auto frame = socket->receive_with_timeout(memory, std::chrono::seconds(10));
  if (!frame) return std::puts(describe(frame.error()).c_str()), 1;
  const auto view = wire::ethernet_view::parse(frame->bytes);
  if (!view) return 1;
  for (const auto& tag : view->tags()) {
    std::printf("vlan %d prio %d: ", tag.tci.vlan_id, tag.tci.priority);
  }
  const auto text = as_text(view->message());
  std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
}
