// AF_XDP sockets: one queue of one interface, and its rings. What arrives there comes to a socket
// only when an XDP program redirects it: see program.hpp. Sending needs none.
//
// Owns no thread; `fd()` may be polled. A socket is moved, never copied, and closes when it goes.
// Different threads may use its different rings. Needs CAP_NET_RAW, or the daemon's broker (see
// broker.hpp). Linux 6.1 or newer. Source: Documentation/networking/af_xdp.rst.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/unique_fd.hpp"
#include "strata/xdp/ring.hpp"
#include "strata/xdp/umem.hpp"

namespace strata::xdp {

/// Whether the driver reads and writes the UMEM itself.
enum class copy_mode : std::uint8_t { automatic, copy, zerocopy };

/// The kernel polls the driver in the calls of this socket's user, not in interrupts (Linux 5.11).
struct busy_poll_options {
  std::chrono::microseconds duration{20};
  std::uint16_t budget = 64;  ///< frames at once
};

struct socket_options {
  std::uint32_t receive_size = 2048;   ///< entries of the ring, a power of two; 0: sends only
  std::uint32_t transmit_size = 2048;  ///< likewise; 0: receives only
  std::uint32_t fill_size = 2048;
  std::uint32_t completion_size = 2048;
  copy_mode mode = copy_mode::automatic;
  /// The kernel sleeps until it is woken: see producer_ring::needs_wakeup.
  bool need_wakeup = true;
  /// Frames larger than a chunk come and go as several descriptors (Linux 6.6).
  bool multi_buffer = false;
  std::optional<busy_poll_options> busy_poll;
  /// How long to wait for a queue that is still held, as it is for some 20 ms after its last socket
  /// was closed.
  std::chrono::milliseconds busy_limit{500};
};

/// What the kernel counted since the socket was made (struct xdp_statistics).
struct socket_statistics {
  std::uint64_t dropped = 0;              ///< frames redirected to the socket, and lost
  std::uint64_t receive_ring_full = 0;    ///< those of them for which the ring had no room
  std::uint64_t fill_ring_empty = 0;      ///< looks for a frame to receive into that found none
  std::uint64_t transmit_ring_empty = 0;  ///< looks for something to send that found nothing
  std::uint64_t invalid_receive = 0;      ///< addresses in the fill ring outside of the UMEM
  std::uint64_t invalid_transmit = 0;     ///< descriptors in the transmit ring
};

class socket {
 public:
  /// Binds to `queue` of the interface. Sockets on one queue with one UMEM share its fill and
  /// completion ring; all sockets of a UMEM have the mode of the first.
  ///
  /// Errors: not_found when there is no such interface; permission_denied without CAP_NET_RAW;
  /// limit_exceeded when more memory would be locked than allowed; conflict when another holds the
  /// queue; not_supported for a mode that the driver or kernel lacks.
  [[nodiscard]] static result<socket> create(std::shared_ptr<umem> memory,
                                             std::string_view interface_name, std::uint32_t queue,
                                             const socket_options& options = {});

  /// Where a socket was bound that another process made.
  struct binding {
    int interface_index = 0;
    std::uint32_t queue = 0;
    bool is_zerocopy = false;
    std::string interface_name{};  ///< for errors
  };
  /// Takes over a bound socket that another process made on the same memory, with all four rings of
  /// those sizes. Errors: of the kernel, when it has no such rings.
  [[nodiscard]] static result<socket> adopt(std::shared_ptr<umem> memory, unique_fd fd,
                                            const binding& binding, const socket_options& options);

  socket(socket&&) noexcept;
  socket& operator=(socket&&) noexcept;
  ~socket();

  [[nodiscard]] bool has_receive_ring() const { return receive_.size() != 0; }
  /// Rings that were left out have the size 0.
  [[nodiscard]] receive_ring& receive() { return receive_; }
  [[nodiscard]] transmit_ring& transmit() { return transmit_; }
  [[nodiscard]] fill_ring& fill();
  [[nodiscard]] const fill_ring& fill() const;
  [[nodiscard]] const transmit_ring& transmit() const { return transmit_; }
  [[nodiscard]] completion_ring& completion();

  [[nodiscard]] const std::shared_ptr<umem>& memory() const { return memory_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] int interface_index() const;
  [[nodiscard]] std::uint32_t queue() const;
  /// What the kernel chose.
  [[nodiscard]] bool is_zerocopy() const { return is_zerocopy_; }

  /// Has the kernel send what is in the transmit ring; false when it took only a part, and wants
  /// to be called again (in copy mode it takes 32 frames a call). In copy mode this is needed after
  /// each `submit`, otherwise when the ring `needs_wakeup`. Errors: of the link
  /// (connection_closed, ENETDOWN; not_found, ENODEV: it was removed, or moved to another network
  /// namespace).
  [[nodiscard]] result<bool> wake_transmit() const;
  /// Has the kernel look at the fill ring. Errors: of the link, as `wake_transmit`; poll does not
  /// tell of a link that is gone, so call it now and then when nothing comes.
  [[nodiscard]] result<void> wake_receive() const;
  /// Waits until there is something to receive, for `timeout` at most (forever without one); false
  /// when there is nothing. Interrupted waits go on.
  [[nodiscard]] result<bool> wait_readable(std::optional<std::chrono::milliseconds> timeout) const;
  /// Waits until the kernel takes more to send.
  [[nodiscard]] result<bool> wait_writable(std::optional<std::chrono::milliseconds> timeout) const;

  [[nodiscard]] result<socket_statistics> statistics() const;

  /// Whether busy polling has an effect, which the kernel tells only after the first frame came:
  /// nullopt before. False on drivers that name no poller for their frames, such as veth's.
  [[nodiscard]] std::optional<bool> is_busy_polled() const;

 private:
  socket(std::shared_ptr<umem> memory, unique_fd fd)
      : memory_(std::move(memory)), fd_(std::move(fd)) {}
  [[nodiscard]] result<void> register_memory();
  [[nodiscard]] result<void> make_rings(const socket_options& options, bool owns_queue);
  [[nodiscard]] result<void> map_rings(const socket_options& options, bool owns_queue);
  [[nodiscard]] result<void> bind(const socket_options& options, const std::string& place,
                                  int shared_fd);
  void leave();

  std::shared_ptr<umem> memory_;
  unique_fd fd_;
  std::shared_ptr<umem::queue_rings> rings_;
  mapping receive_memory_;
  mapping transmit_memory_;
  receive_ring receive_;
  transmit_ring transmit_;
  bool is_zerocopy_ = false;
};

}  // namespace strata::xdp
