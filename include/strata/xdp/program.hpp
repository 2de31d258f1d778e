// The XDP program of an interface, which redirects chosen frames to AF_XDP sockets and passes all
// others to the kernel: ping and TCP continue to work.
//
// A process has one program per interface, which its users share; the program is attached as long
// as one of them holds it. It is attached by a descriptor (bpf_link), so the kernel detaches it
// when the process ends, for whatever reason. If libxdp's dispatcher is attached, by which several
// programs share the interface, the program joins it; a process that is killed then leaves its
// program behind, which passes every frame. For any thread. Needs CAP_NET_ADMIN and CAP_BPF, and
// with a dispatcher CAP_SYS_ADMIN. Linux 6.1 or newer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::xdp {

class socket;

/// A filter for frames: a frame must match every field that is set. Matches every frame if none is.
struct filter {
  /// Behind all VLAN tags.
  std::optional<std::uint16_t> ethertype;
  /// The VID of the outermost tag.
  std::optional<std::uint16_t> vlan_id;
  std::optional<mac_address> destination;
  /// The destination port of UDP over IPv4, or over IPv6 without extension headers.
  std::optional<std::uint16_t> udp_port;

  bool operator==(const filter&) const = default;
};

/// Where the program runs: in the driver (native); behind it, on the kernel's buffer (generic),
/// which works with every driver and costs a copy; or on the network card (hardware), which
/// requires a program loaded for that card (own_program).
enum class attach_mode : std::uint8_t { automatic, native, generic, hardware };

/// An attached XDP program, of any owner.
struct attached_program {
  std::uint32_t id = 0;
  std::string name;  ///< "?" if the kernel does not reveal it to this process
  attach_mode mode = attach_mode::native;
};

/// Returns the program attached to an interface; nullopt if there is none. Errors: not_found.
[[nodiscard]] result<std::optional<attached_program>> attached_to(std::string_view interface_name);

class route;

class program : public std::enable_shared_from_this<program> {
 public:
  /// Returns this process's program on the interface, attaching it if necessary. `automatic`
  /// selects native mode if the driver supports it.
  ///
  /// Errors: not_found if there is no such interface; permission_denied; conflict if another
  /// program is attached, which the error names, or this program is attached in another mode;
  /// not_supported if the driver has no native mode, and for `hardware`.
  [[nodiscard]] static result<std::shared_ptr<program>> attach(
      std::string_view interface_name, attach_mode mode = attach_mode::automatic);
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program();

  /// Redirects the frames that match `filter` on the socket's queue to the socket, as long as the
  /// route lives. Errors: invalid_argument if the socket is on another interface; already_exists if
  /// another socket has this filter on its queue; limit_exceeded above 16 filters or queue 63.
  [[nodiscard]] result<route> add(const filter& filter, const socket& socket);

  [[nodiscard]] bool is_native() const { return is_native_; }
  /// Returns why the program is generic although native mode was possible; otherwise empty.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  friend class route;
  struct parts;
  explicit program(std::unique_ptr<parts> parts);
  [[nodiscard]] result<void> link(attach_mode mode);
  [[nodiscard]] result<void> join(const attached_program& dispatcher, attach_mode mode);
  [[nodiscard]] result<route> add(const filter& filter, int socket_fd, std::uint32_t queue);
  void remove(std::uint32_t rule, std::uint32_t queue);

  std::unique_ptr<parts> parts_;
  bool is_native_ = false;
  std::string reason_;
};

/// Redirects a filter's frames on one queue to one socket. Destroy it before or after the socket.
class route {
 public:
  route(route&& other) noexcept = default;
  route& operator=(route&& other) noexcept;
  ~route();

  [[nodiscard]] const std::shared_ptr<program>& of() const { return of_; }

 private:
  friend class program;
  route(std::shared_ptr<program> program, std::uint32_t rule, std::uint32_t queue)
      : of_(std::move(program)), rule_(rule), queue_(queue) {}
  void leave();

  std::shared_ptr<program> of_;
  std::uint32_t rule_;
  std::uint32_t queue_;
};

}  // namespace strata::xdp
