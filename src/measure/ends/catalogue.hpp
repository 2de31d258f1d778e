// The one list of paths that are measured.
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
  std::string_view name;   ///< as `--paths` takes it
  std::string_view title;  ///< what it is, for people
  /// Null for the plain C contenders, which are a program of their own.
  end_opener open = nullptr;
  bool is_raw = false;  ///< Ethernet frames, which can be tagged unless they are packed
  bool is_xdp = false;  ///< AF_XDP; other raw paths of the library's are AF_PACKET
  /// Packs messages into frames, or cuts them: all sizes fit.
  bool is_packed = false;
  bool one_way = false;
  bool round_trip = false;
  /// A datagram of it that does not fit the MTU cannot be sent at all.
  bool needs_room = false;
  /// In every chart: a colour for each kind of path, which the colour-blind tell apart (Okabe and
  /// Ito), and a dash for each of a kind, as SVG has it.
  std::string_view colour;
  std::string_view dash;
};

[[nodiscard]] std::span<const path_row> catalogue();

/// Errors: not_found, naming all.
[[nodiscard]] result<const path_row*> find_path(std::string_view name);

}  // namespace strata::measure
