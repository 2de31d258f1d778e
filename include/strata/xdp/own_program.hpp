// Attaches a caller's own XDP program, and enters sockets in the map by which it redirects, for
// callers that need more than the filters of program.hpp. The program may be loaded by libbpf or by
// hand.
//
// Owns no thread. The program is attached as long as the object lives, and no longer than the
// process. Needs CAP_NET_ADMIN and CAP_BPF. Linux 6.1 or newer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "strata/base/unique_fd.hpp"
#include "strata/xdp/program.hpp"

namespace strata::xdp {

class own_program {
 public:
  /// Attaches the loaded program `program_fd`, which stays the caller's. `automatic` selects native
  /// mode if the driver supports it; `hardware` requires a program loaded for this card (its
  /// prog_ifindex).
  ///
  /// Errors: not_found if there is no such interface; permission_denied; conflict if another
  /// program is attached, which the error names; not_supported for a mode that the driver lacks;
  /// invalid_argument if the descriptor is not an XDP program.
  [[nodiscard]] static result<own_program> attach(std::string_view interface_name, int program_fd,
                                                  attach_mode mode = attach_mode::automatic);

  /// Never `automatic`.
  [[nodiscard]] attach_mode mode() const { return mode_; }

 private:
  own_program(unique_fd link, attach_mode mode) : link_(std::move(link)), mode_(mode) {}

  unique_fd link_;
  attach_mode mode_;
};

/// Sets the entry `key` of an XSKMAP (by default, the entry of the socket's queue) to the socket.
/// The map's descriptor stays the caller's; the kernel removes the entry when the socket closes.
/// Errors: those of the kernel, if the map is not an XSKMAP or has no such entry.
[[nodiscard]] result<void> enter_in_map(int map_fd, const socket& socket,
                                        std::optional<std::uint32_t> key = std::nullopt);

}  // namespace strata::xdp
