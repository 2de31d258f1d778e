// The lines of a tap as packets of a capture file.
#pragma once

#include <cstdint>
#include <string>

namespace strata::cli {

/// LINKTYPE_WIRESHARK_UPPER_PDU: each packet begins with tags that name its dissector and its ends.
inline constexpr std::uint16_t tap_link_type = 252;

/// One line of a tap.
struct tapped_line {
  std::uint64_t time_ns = 0;  ///< nanoseconds since 1970
  std::string time;           ///< the same as text, from the daemon
  bool is_outgoing = false;
  std::string form;
  std::string address;  ///< of the client
  std::string protocol;
  std::string sender;
  std::string receiver;
  std::string bytes;
  std::uint64_t size = 0;  ///< bytes that passed; `bytes` may be only the first of them
};

/// Returns the packet. Wireshark decodes HTTP, WebSocket and RESP; the rest is data.
[[nodiscard]] std::string packet_of(const tapped_line& line);

}  // namespace strata::cli
