// The one grammar for everything that listens or connects: `tcp://host:port`, `unix:///path`, …
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::net {

struct scheme_row;  // scheme.hpp

/// How frames of an `l2://` or `xdp://` endpoint look.
/// How a message's end is told from the zeros that fill a short frame.
enum class l2_padding : std::uint8_t {
  strip,  ///< zeros at the end of a frame that may have been filled are taken off
  keep,   ///< all that the frame holds is the message
  length  ///< two bytes before the message say how long it is, the most significant first
};

struct l2_address {
  std::uint16_t ethertype = 0x88B5;
  /// The peer: frames go to it, and unless it is a group, only its are heard.
  std::optional<mac_address> destination;
  std::optional<std::uint16_t> vlan_id;
  std::optional<std::uint8_t> priority;
  bool drop_eligible = false;
  l2_padding padding = l2_padding::strip;

  bool operator==(const l2_address&) const = default;
};

enum class xdp_mode : std::uint8_t { automatic, native, generic, zerocopy };

/// Where the frames of an `xdp://` endpoint come from.
struct xdp_address {
  std::uint32_t queue = 0;
  xdp_mode mode = xdp_mode::automatic;

  bool operator==(const xdp_address&) const = default;
};

/// The users that may connect to a Unix socket that is made. Unset: as the process makes files.
struct unix_access {
  std::optional<unsigned> mode;
  std::string group;

  bool operator==(const unix_access&) const = default;
};

struct endpoint_url {
  const scheme_row* scheme = nullptr;  ///< never null once it is parsed
  /// A name or an address, without brackets; `*` for every address, to listen; of frames, the
  /// interface; the name of a runtime.
  std::string host;
  std::uint16_t port = 0;
  std::string path;  ///< of a Unix socket; of the web, with the query, as it is asked for
  unix_access access;
  l2_address l2;
  xdp_address xdp;

  /// Its messages are Ethernet frames.
  [[nodiscard]] bool is_ethernet() const;
  /// Its bytes come as a stream.
  [[nodiscard]] bool is_stream() const;
  [[nodiscard]] bool has_port() const;
  /// HTTP is spoken there, and what HTTP leads to.
  [[nodiscard]] bool is_web() const;
  /// A path or an interface: it has no host to look up, and is not shared between loops.
  [[nodiscard]] bool is_for_one() const;
  /// Every address of this machine, of IPv4 and of IPv6: something to listen on.
  [[nodiscard]] bool is_everywhere() const { return has_port() && host == "*"; }
  /// Those of other machines cannot reach it, as far as its text tells: a name may.
  [[nodiscard]] bool is_of_this_machine() const;
  /// As it was written, in normal form.
  [[nodiscard]] std::string text() const;
  bool operator==(const endpoint_url&) const = default;
};

/// What an endpoint is for; `connect` is to exchange messages.
enum class url_use : std::uint8_t { listen, connect, any };

/// Errors: invalid_argument, naming the URL, what is wrong and an example of its scheme; where none
/// is known, of those that the use allows.
[[nodiscard]] result<endpoint_url> parse_endpoint(std::string_view text,
                                                  url_use use = url_use::any);

}  // namespace strata::net
