// The list of all measured paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "measure/ends/end.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

using end_opener = result<end> (*)(const end_options&);

struct path_row {
  std::string_view name;   ///< the name for `--paths`
  std::string_view title;  ///< description for people
  /// Null for the plain C contenders, which are a separate program.
  end_opener open = nullptr;
  bool is_raw = false;  ///< Ethernet frames, which can be tagged unless the path packs messages
  bool is_xdp = false;  ///< AF_XDP; the library's other raw paths are AF_PACKET
  /// Packs or splits messages into frames: all sizes fit.
  bool is_packed = false;
  bool one_way = false;
  bool round_trip = false;
  /// A datagram that exceeds the MTU cannot be sent at all.
  bool needs_room = false;
  /// For all charts: a colour for each kind of path, distinguishable by colour-blind readers (Okabe
  /// and Ito), and a dash for each path of a kind, in SVG's syntax.
  std::string_view colour;
  std::string_view dash;
};

[[nodiscard]] std::span<const path_row> catalogue();

/// Errors: not_found, naming all paths.
[[nodiscard]] result<const path_row*> find_path(std::string_view name);

}  // namespace strata::measure
