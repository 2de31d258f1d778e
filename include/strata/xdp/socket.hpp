// AF_XDP sockets: one queue of one interface, and its rings. A socket receives only the frames that
// an XDP program redirects to it: see program.hpp. Sending needs no program.
//
// Owns no thread; `fd()` may be polled. A socket can be moved but not copied; the destructor closes
// it. Different threads may use its different rings. Needs CAP_NET_RAW, or the daemon's broker (see
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

/// Busy polling: the kernel polls the driver in the socket user's calls, not in interrupts (Linux
/// 5.11).
struct busy_poll_options {
  std::chrono::microseconds duration{20};
  std::uint16_t budget = 64;  ///< frames per poll
};

struct socket_options {
  std::uint32_t receive_size = 2048;   ///< entries of the ring, a power of two; 0: sends only
  std::uint32_t transmit_size = 2048;  ///< likewise; 0: receives only
  std::uint32_t fill_size = 2048;
  std::uint32_t completion_size = 2048;
  copy_mode mode = copy_mode::automatic;
  /// The kernel sleeps until the socket wakes it: see producer_ring::needs_wakeup.
  bool need_wakeup = true;
  /// Frames larger than a chunk use several descriptors (Linux 6.6).
  bool multi_buffer = false;
  std::optional<busy_poll_options> busy_poll;
  /// How long to wait for a queue that is still held; the kernel holds it for some 20 ms after its
  /// last socket was closed.
  std::chrono::milliseconds busy_limit{500};
};

/// Kernel counters since the socket was created (struct xdp_statistics).
struct socket_statistics {
  std::uint64_t dropped = 0;              ///< frames redirected to the socket, but lost
  std::uint64_t receive_ring_full = 0;    ///< of `dropped`: the receive ring was full
  std::uint64_t fill_ring_empty = 0;      ///< times the kernel found the fill ring empty
  std::uint64_t transmit_ring_empty = 0;  ///< times the kernel found the transmit ring empty
  std::uint64_t invalid_receive = 0;      ///< fill ring addresses outside of the UMEM
  std::uint64_t invalid_transmit = 0;     ///< invalid descriptors in the transmit ring
};

class socket {
 public:
  /// Binds to `queue` of the interface. Sockets on one queue with one UMEM share its fill and
  /// completion rings; all sockets of a UMEM have the mode of the first.
  ///
  /// Errors: not_found if there is no such interface; permission_denied without CAP_NET_RAW;
  /// limit_exceeded if the socket would lock more memory than allowed; conflict if another socket
  /// holds the queue; not_supported for a mode that the driver or kernel lacks.
  [[nodiscard]] static result<socket> create(std::shared_ptr<umem> memory,
                                             std::string_view interface_name, std::uint32_t queue,
                                             const socket_options& options = {});

  /// Where another process bound a socket.
  struct binding {
    int interface_index = 0;
    std::uint32_t queue = 0;
    bool is_zerocopy = false;
    std::string interface_name{};  ///< for errors
  };
  /// Takes over a bound socket that another process created on the same memory, with all four rings
  /// of the sizes in `options`. Errors: those of the kernel, if the socket has no such rings.
  [[nodiscard]] static result<socket> adopt(std::shared_ptr<umem> memory, unique_fd fd,
                                            const binding& binding, const socket_options& options);

  socket(socket&&) noexcept;
  socket& operator=(socket&&) noexcept;
  ~socket();

  [[nodiscard]] bool has_receive_ring() const { return receive_.size() != 0; }
  /// The socket's rings; a ring that was left out has size 0.
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
  /// Reports the kernel's choice.
  [[nodiscard]] bool is_zerocopy() const { return is_zerocopy_; }

  /// Has the kernel send the contents of the transmit ring; returns false if it sent only a part
  /// and must be called again (in copy mode it sends 32 frames per call). In copy mode, call this
  /// after each `submit`; otherwise when the ring `needs_wakeup`. Errors: those of the link
  /// (connection_closed, ENETDOWN; not_found, ENODEV: the interface was removed, or moved to
  /// another network namespace).
  [[nodiscard]] result<bool> wake_transmit() const;
  /// Has the kernel read the fill ring. Errors: those of the link, as `wake_transmit`. Poll does
  /// not report a lost link, so call this from time to time when no frame arrives.
  [[nodiscard]] result<void> wake_receive() const;
  /// Waits until there is a frame to receive, for at most `timeout` (forever without one); returns
  /// false if there is none. Resumes when a signal interrupts it.
  [[nodiscard]] result<bool> wait_readable(std::optional<std::chrono::milliseconds> timeout) const;
  /// Waits until the kernel accepts more frames to send.
  [[nodiscard]] result<bool> wait_writable(std::optional<std::chrono::milliseconds> timeout) const;

  [[nodiscard]] result<socket_statistics> statistics() const;

  /// Reports whether busy polling has an effect. The kernel reveals it only with the first received
  /// frame: nullopt before. False with drivers that set no poller for their frames, such as veth's.
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
