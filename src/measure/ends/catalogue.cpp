#include "measure/ends/catalogue.hpp"

namespace strata::measure {

namespace {

constexpr std::string_view black = "#000000";
constexpr std::string_view blue = "#0072b2";
constexpr std::string_view vermilion = "#d55e00";
constexpr std::string_view orange = "#e69f00";
constexpr std::string_view green = "#009e73";
constexpr std::string_view purple = "#cc79a7";
constexpr std::string_view grey = "#888888";
constexpr std::string_view dashed = "7 4";
constexpr std::string_view dotted = "2 3";

constexpr path_row rows[] = {
    {.name = "tcp",
     .title = "TCP, a send a message",
     .open = open_tcp,
     .one_way = true,
     .round_trip = true,
     .colour = black},
    {.name = "tcp_batch",
     .title = "TCP, 64 messages a send",
     .open = open_tcp_batch,
     .one_way = true,
     .colour = black,
     .dash = dashed},
    {.name = "udp",
     .title = "UDP sendto -> recvfrom",
     .open = open_udp,
     .one_way = true,
     .round_trip = true,
     .colour = blue},
    {.name = "udp_batch",
     .title = "UDP sendmmsg -> recvmmsg",
     .open = open_udp_batch,
     .one_way = true,
     .colour = blue,
     .dash = dashed},
    {.name = "udp_gso",
     .title = "UDP GSO -> GRO",
     .open = open_udp_gso,
     .one_way = true,
     .needs_room = true,
     .colour = blue,
     .dash = dotted},
    {.name = "packet",
     .title = "AF_PACKET sendto -> receive",
     .open = open_packet,
     .is_raw = true,
     .one_way = true,
     .round_trip = true,
     .colour = vermilion},
    {.name = "packet_batch",
     .title = "AF_PACKET sendmmsg -> recvmmsg",
     .open = open_packet_batch,
     .is_raw = true,
     .one_way = true,
     .colour = vermilion,
     .dash = dashed},
    {.name = "packet_bypass",
     .title = "AF_PACKET sendmmsg, no qdisc -> recvmmsg",
     .open = open_packet_bypass,
     .is_raw = true,
     .one_way = true,
     .colour = vermilion,
     .dash = dotted},
    {.name = "send_ring",
     .title = "AF_PACKET send ring -> V3 ring",
     .open = open_send_ring,
     .is_raw = true,
     .one_way = true,
     .colour = orange,
     .dash = dashed},
    {.name = "packet_ring",
     .title = "AF_PACKET sendmmsg -> V3 ring",
     .open = open_packet_ring,
     .is_raw = true,
     .one_way = true,
     .colour = orange},
    {.name = "frame_ring",
     .title = "AF_PACKET sendto -> V2 ring",
     .open = open_frame_ring,
     .is_raw = true,
     .round_trip = true,
     .colour = orange,
     .dash = dotted},
    {.name = "xdp_native",
     .title = "AF_XDP, native (copy)",
     .open = open_xdp_native,
     .is_raw = true,
     .is_xdp = true,
     .one_way = true,
     .round_trip = true,
     .colour = green},
    {.name = "xdp_busy_poll",
     .title = "AF_XDP, native (copy), busy polling",
     .open = open_xdp_busy_poll,
     .is_raw = true,
     .is_xdp = true,
     .one_way = true,
     .round_trip = true,
     .colour = green,
     .dash = dashed},
    {.name = "xdp_generic",
     .title = "AF_XDP, generic",
     .open = open_xdp_generic,
     .is_raw = true,
     .is_xdp = true,
     .one_way = true,
     .round_trip = true,
     .colour = green,
     .dash = dotted},
    {.name = "ipc",
     .title = "IPC channel: messages packed into frames",
     .open = open_ipc,
     .is_raw = true,
     .is_packed = true,
     .one_way = true,
     .round_trip = true,
     .colour = purple},
    {.name = "plain_packet",
     .title = "plain C: sendto -> recvmsg",
     .is_raw = true,
     .one_way = true,
     .round_trip = true,
     .colour = grey},
    {.name = "plain_ring",
     .title = "plain C: sendmmsg -> V3 ring; round trip sendto -> V2 ring",
     .is_raw = true,
     .one_way = true,
     .round_trip = true,
     .colour = grey,
     .dash = dashed},
};

}  // namespace

std::span<const path_row> catalogue() { return rows; }

result<const path_row*> find_path(std::string_view name) {
  std::string all;
  for (const auto& row : catalogue()) {
    if (row.name == name) return &row;
    all += (all.empty() ? "" : ", ") + std::string(row.name);
  }
  return failure(errc::not_found, "measure path '" + std::string(name) + "'",
                 "no path has this name", "choose from " + all);
}

}  // namespace strata::measure
