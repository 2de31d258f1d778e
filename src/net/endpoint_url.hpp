// The one grammar for every endpoint that listens or connects: `tcp://host:port`, `unix:///path`, …
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::net {

struct scheme_row;  // scheme.hpp

/// The frames of an `l2://` or `xdp://` endpoint: how the end of a message is distinguished from
/// the zeros that fill a short frame.
enum class l2_padding : std::uint8_t {
  strip,  ///< zeros at the end of a frame that may be padded are removed
  keep,   ///< everything in the frame is the message
  length  ///< a 2-byte big-endian length precedes the message
};

struct l2_address {
  std::uint16_t ethertype = 0x88B5;
  /// The peer: frames are sent to it, and unless it is a group address, only its frames are
  /// received.
  std::optional<mac_address> destination;
  std::optional<std::uint16_t> vlan_id;
  std::optional<std::uint8_t> priority;
  bool drop_eligible = false;
  l2_padding padding = l2_padding::strip;

  bool operator==(const l2_address&) const = default;
};

enum class xdp_mode : std::uint8_t { automatic, native, generic, zerocopy };

/// The source of an `xdp://` endpoint's frames.
struct xdp_address {
  std::uint32_t queue = 0;
  xdp_mode mode = xdp_mode::automatic;

  bool operator==(const xdp_address&) const = default;
};

/// The users that may connect to a Unix socket that is created. Unset: the process's defaults for
/// files.
struct unix_access {
  std::optional<unsigned> mode;
  std::string group;

  bool operator==(const unix_access&) const = default;
};

struct endpoint_url {
  const scheme_row* scheme = nullptr;  ///< never null once the URL is parsed
  /// A name or an address, without brackets; `*` listens on every address; for frames, the
  /// interface; or the name of a runtime.
  std::string host;
  std::uint16_t port = 0;
  std::string path;  ///< path of a Unix socket; for the web, path and query as requested
  unix_access access;
  l2_address l2;
  xdp_address xdp;

  /// Whether its messages are Ethernet frames.
  [[nodiscard]] bool is_ethernet() const;
  /// Whether it carries a stream of bytes.
  [[nodiscard]] bool is_stream() const;
  [[nodiscard]] bool has_port() const;
  /// Whether it speaks HTTP, or a protocol that HTTP upgrades to.
  [[nodiscard]] bool is_web() const;
  /// Whether it is a path or an interface: it has no host to look up, and loops cannot share it.
  [[nodiscard]] bool is_for_one() const;
  /// Whether it stands for every address of this machine, IPv4 and IPv6: only for listening.
  [[nodiscard]] bool is_everywhere() const { return has_port() && host == "*"; }
  /// Whether other machines cannot reach it, judging by its text: a host name might be reachable.
  [[nodiscard]] bool is_of_this_machine() const;
  /// The URL as text, in normal form.
  [[nodiscard]] std::string text() const;
  bool operator==(const endpoint_url&) const = default;
};

/// What an endpoint is used for; `connect` exchanges messages.
enum class url_use : std::uint8_t { listen, connect, any };

/// Parses an endpoint URL. Errors: invalid_argument, naming the URL, the fault and an example of
/// its scheme; for an unknown scheme, examples of all schemes that the use allows.
[[nodiscard]] result<endpoint_url> parse_endpoint(std::string_view text,
                                                  url_use use = url_use::any);

}  // namespace strata::net
