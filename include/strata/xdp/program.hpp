// The XDP program of an interface, which brings chosen frames to AF_XDP sockets and lets all others
// go on to the kernel: ping and TCP work beside it.
//
// A process has one for each interface, which its users share; it is attached as long as one of
// them holds it. It hangs on a descriptor (bpf_link), so the kernel detaches it when the process
// ends, however it ends. Where libxdp's dispatcher is attached, with which others share the
// interface, it joins that; there a process that is killed leaves it behind, passing every frame.
// For any thread. Needs CAP_NET_ADMIN and CAP_BPF, beside a dispatcher CAP_SYS_ADMIN. Linux 6.1 or
// newer.
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

/// Which frames: those for which all that is given is true. Nothing given: every frame.
struct filter {
  /// Behind all VLAN tags.
  std::optional<std::uint16_t> ethertype;
  /// VID of the outermost tag.
  std::optional<std::uint16_t> vlan_id;
  std::optional<mac_address> destination;
  /// Destination port of UDP over IPv4, or over IPv6 without extension headers.
  std::optional<std::uint16_t> udp_port;

  bool operator==(const filter&) const = default;
};

/// Where the program runs: in the driver, or behind it, on what the kernel has made of the frame,
/// which works with every driver and costs a copy; or on the network card itself, which only a
/// program that was loaded for that card can (own_program).
enum class attach_mode : std::uint8_t { automatic, native, generic, hardware };

/// An XDP program that is attached, of whomever.
struct attached_program {
  std::uint32_t id = 0;
  std::string name;  ///< "?" where the kernel does not tell this process
  attach_mode mode = attach_mode::native;
};

/// What is attached to an interface; nullopt when nothing is. Errors: not_found.
[[nodiscard]] result<std::optional<attached_program>> attached_to(std::string_view interface_name);

class route;

class program : public std::enable_shared_from_this<program> {
 public:
  /// The program of that interface; attached if this process has none there yet. `automatic` takes
  /// native where the driver has it.
  ///
  /// Errors: not_found when there is no such interface; permission_denied; conflict when another
  /// program is attached, which the error names, or this one is attached in another mode;
  /// not_supported when the driver has no native mode, and for `hardware`.
  [[nodiscard]] static result<std::shared_ptr<program>> attach(
      std::string_view interface_name, attach_mode mode = attach_mode::automatic);
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program();

  /// Brings the frames that `filter` is about, from the socket's queue, to the socket, as long as
  /// the route lives. Errors: invalid_argument when the socket is of another interface;
  /// already_exists when another socket has that on its queue; limit_exceeded above 16 filters or
  /// queue 63.
  [[nodiscard]] result<route> add(const filter& filter, const socket& socket);

  [[nodiscard]] bool is_native() const { return is_native_; }
  /// Why it is generic although it might have been native; empty otherwise.
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

/// A filter's frames on one queue come to one socket. Destroy it before the socket, or after.
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
