// The one grammar for everything that listens or connects: `tcp://host:port`, `unix:///path`, …
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::net {

enum class scheme : std::uint8_t { tcp, udp, unix_stream, l2, xdp };

/// What stands behind `NAME://`.
enum class url_form : std::uint8_t { host_and_port, path, interface, queue };

struct scheme_row {
  std::string_view name;
  scheme value;
  url_form form;
  std::string_view usage;  ///< how its URL is written
};

/// All schemes that this build knows.
[[nodiscard]] std::span<const scheme_row> schemes();
/// How the URL of each is written, in a list for help texts.
[[nodiscard]] std::string usage_of_all();

/// How frames of an `l2://` or `xdp://` endpoint look.
struct l2_address {
  std::uint16_t ethertype = 0x88B5;
  /// The peer: frames go to it, and unless it is a group, only its are heard.
  std::optional<mac_address> destination;
  std::optional<std::uint16_t> vlan_id;
  std::optional<std::uint8_t> priority;
  bool drop_eligible = false;

  bool operator==(const l2_address&) const = default;
};

enum class xdp_mode : std::uint8_t { automatic, native, generic, zerocopy };

/// Where the frames of an `xdp://` endpoint come from.
struct xdp_address {
  std::uint32_t queue = 0;
  xdp_mode mode = xdp_mode::automatic;

  bool operator==(const xdp_address&) const = default;
};

struct endpoint_url {
  scheme kind = scheme::tcp;
  std::string host;  ///< a name or an address, without brackets; of frames, the interface
  std::uint16_t port = 0;
  std::string path;
  l2_address l2;
  xdp_address xdp;

  /// Its messages are Ethernet frames.
  [[nodiscard]] bool is_ethernet() const { return kind == scheme::l2 || kind == scheme::xdp; }
  /// A path or an interface: it has no host to look up, and is not shared between loops.
  [[nodiscard]] bool is_for_one() const { return kind == scheme::unix_stream || is_ethernet(); }
  /// As it was written, in normal form.
  [[nodiscard]] std::string text() const;
  bool operator==(const endpoint_url&) const = default;
};

/// Errors: invalid_argument, naming the URL, what is wrong and an example.
[[nodiscard]] result<endpoint_url> parse_endpoint(std::string_view text);

}  // namespace strata::net
