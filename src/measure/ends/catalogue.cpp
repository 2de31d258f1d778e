#include "measure/ends/catalogue.hpp"

namespace strata::measure {

namespace {

constexpr path_row rows[] = {
    {.name = "tcp",
     .title = "TCP, a send a message",
     .open = open_tcp,
     .one_way = true,
     .round_trip = true},
    {.name = "tcp_batch",
     .title = "TCP, 64 messages a send",
     .open = open_tcp_batch,
     .one_way = true},
    {.name = "udp",
     .title = "UDP sendto -> recvfrom",
     .open = open_udp,
     .one_way = true,
     .round_trip = true},
    {.name = "udp_batch",
     .title = "UDP sendmmsg -> recvmmsg",
     .open = open_udp_batch,
     .one_way = true},
    {.name = "udp_gso",
     .title = "UDP GSO -> GRO",
     .open = open_udp_gso,
     .one_way = true,
     .needs_room = true},
    {.name = "packet",
     .title = "AF_PACKET sendto -> receive",
     .open = open_packet,
     .is_raw = true,
     .one_way = true,
     .round_trip = true},
    {.name = "packet_batch",
     .title = "AF_PACKET sendmmsg -> recvmmsg",
     .open = open_packet_batch,
     .is_raw = true,
     .one_way = true},
    {.name = "packet_bypass",
     .title = "AF_PACKET sendmmsg, no qdisc -> recvmmsg",
     .open = open_packet_bypass,
     .is_raw = true,
     .one_way = true},
    {.name = "send_ring",
     .title = "AF_PACKET send ring -> V3 ring",
     .open = open_send_ring,
     .is_raw = true,
     .one_way = true},
    {.name = "packet_ring",
     .title = "AF_PACKET sendmmsg -> V3 ring",
     .open = open_packet_ring,
     .is_raw = true,
     .one_way = true},
    {.name = "frame_ring",
     .title = "AF_PACKET sendto -> V2 ring",
     .open = open_frame_ring,
     .is_raw = true,
     .round_trip = true},
    {.name = "xdp_native",
     .title = "AF_XDP, native (copy)",
     .open = open_xdp_native,
     .is_raw = true,
     .is_xdp = true,
     .one_way = true,
     .round_trip = true},
    {.name = "xdp_busy_poll",
     .title = "AF_XDP, native (copy), busy polling",
     .open = open_xdp_busy_poll,
     .is_raw = true,
     .is_xdp = true,
     .one_way = true,
     .round_trip = true},
    {.name = "xdp_generic",
     .title = "AF_XDP, generic",
     .open = open_xdp_generic,
     .is_raw = true,
     .is_xdp = true,
     .one_way = true,
     .round_trip = true},
    {.name = "ipc",
     .title = "IPC channel: messages packed into frames",
     .open = open_ipc,
     .is_raw = true,
     .is_packed = true,
     .one_way = true,
     .round_trip = true},
    {.name = "plain_packet",
     .title = "plain C: sendto -> recvmsg",
     .is_raw = true,
     .one_way = true,
     .round_trip = true},
    {.name = "plain_ring",
     .title = "plain C: sendmmsg -> V3 ring; round trip sendto -> V2 ring",
     .is_raw = true,
     .one_way = true,
     .round_trip = true},
};

}  // namespace

std::span<const path_row> catalogue() { return rows; }

result<const path_row*> find_path(std::string_view name) {
  std::string all;
  for (const auto& row : catalogue()) {
    if (row.name == name) return &row;
    all += (all.empty() ? "" : ", ") + std::string(row.name);
  }
  return failure(errc::not_found, "measure path '" + std::string(name) + "'", "there is none",
                 "choose from " + all);
}

}  // namespace strata::measure
