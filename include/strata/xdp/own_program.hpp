// An XDP program of one's own, and the map by which it redirects to sockets: for those to whom the
// filters of program.hpp are not enough. How the program was loaded, by libbpf or by hand, does not
// matter.
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
  /// Attaches the loaded program `program_fd`, which stays the caller's. `automatic` takes native
  /// where the driver has it; `hardware` is for one that was loaded for this card (its
  /// prog_ifindex).
  ///
  /// Errors: not_found when there is no such interface; permission_denied; conflict when another
  /// program is attached, which the error names; not_supported for a mode that the driver lacks;
  /// invalid_argument when the descriptor is no XDP program.
  [[nodiscard]] static result<own_program> attach(std::string_view interface_name, int program_fd,
                                                  attach_mode mode = attach_mode::automatic);

  /// Never `automatic`.
  [[nodiscard]] attach_mode mode() const { return mode_; }

 private:
  own_program(unique_fd link, attach_mode mode) : link_(std::move(link)), mode_(mode) {}

  unique_fd link_;
  attach_mode mode_;
};

/// Has the entry `key`, or else that of the socket's queue, of an XSKMAP lead to the socket. The
/// map's descriptor stays the caller's; the kernel takes the entry out when the socket closes.
/// Errors: of the kernel, when it is no XSKMAP, or has no such entry.
[[nodiscard]] result<void> enter_in_map(int map_fd, const socket& socket,
                                        std::optional<std::uint32_t> key = std::nullopt);

}  // namespace strata::xdp
