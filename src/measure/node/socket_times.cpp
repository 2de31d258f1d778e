#include "measure/node/socket_times.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>

#include "measure/counting/message.hpp"
#include "measure/ends/inet_socket.hpp"
#include "strata/l2/frame_ring.hpp"
#include "strata/l2/packet_ring.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::measure {

namespace {

struct times {
  double open_us;
  double close_us;
};

// `open` returns a result of an object whose destructor closes it.
template <class Open>
result<times> measure(Open open) {
  const auto begin = now_ns();
  auto opened = open();
  const auto made = now_ns();
  if (!opened) return std::unexpected(opened.error());
  std::optional held(std::move(*opened));
  const auto kept = now_ns();
  held.reset();
  const auto closed = now_ns();
  return times{.open_us = static_cast<double>(made - begin) / 1000,
               .close_us = static_cast<double>(closed - kept) / 1000};
}

// Opens a socket as many programs do: it receives from every interface from the start, until it is
// bound.
result<unique_fd> open_the_dear_way(const std::string& link) {
  unique_fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
  if (!fd) return system_failure(errno, "open a raw socket");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  const auto on = l2::interface::query(link);
  if (!on) return std::unexpected(on.error());
  address.sll_ifindex = on->index;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_failure(errno, "bind a raw socket to " + link);
  }
  return fd;
}

struct kind {
  const char* name;
  const char* title;
  result<times> (*measure)(const std::string& link, const std::string& address);
};

constexpr kind kinds[] = {
    {"udp", "UDP socket, bound",
     [](const std::string&, const std::string& address) {
       return measure([&] { return bound_socket(SOCK_DGRAM, address, 0, 0); });
     }},
    {"tcp", "TCP socket, bound",
     [](const std::string&, const std::string& address) {
       return measure([&] { return bound_socket(SOCK_STREAM, address, 0, 0); });
     }},
    {"raw_socket", "raw_socket::create_bound (protocol 0, then bind)",
     [](const std::string& link, const std::string&) {
       return measure([&] { return l2::raw_socket::create_bound(link); });
     }},
    {"raw_sender", "raw_socket::create_bound, send only",
     [](const std::string& link, const std::string&) {
       return measure([&] { return l2::raw_socket::create_bound(link, {.receives = false}); });
     }},
    {"raw_dear", "socket(ETH_P_ALL), then bind",
     [](const std::string& link, const std::string&) {
       return measure([&] { return open_the_dear_way(link); });
     }},
    {"packet_ring", "packet_ring::create_bound (V3, 4 MiB)",
     [](const std::string& link, const std::string&) {
       return measure([&] { return l2::packet_ring::create_bound(link); });
     }},
    {"frame_ring", "frame_ring::create_bound (V2, 1024 slots)",
     [](const std::string& link, const std::string&) {
       return measure([&] { return l2::frame_ring::create_bound(link); });
     }},
};

}  // namespace

result<nlohmann::json> time_sockets(const std::string& link, const std::string& address,
                                    std::size_t repetitions) {
  auto all = nlohmann::json::array();
  for (const auto& each : kinds) {
    all.push_back({{"name", each.name},
                   {"title", each.title},
                   {"open_us", nlohmann::json::array()},
                   {"close_us", nlohmann::json::array()}});
  }
  for (std::size_t i = 0; i < repetitions; ++i) {
    auto* row = all.begin().operator->();
    for (const auto& each : kinds) {
      const auto taken = each.measure(link, address);
      if (!taken) return std::unexpected(taken.error());
      (*row)["open_us"].push_back(taken->open_us);
      (*row)["close_us"].push_back(taken->close_us);
      ++row;
    }
  }
  return all;
}

}  // namespace strata::measure
