// The common part of the io_uring and epoll backends: opening kernel sockets, host names, time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/names/name_lookup.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::loop {

class os_loop : public loop {
 public:
  result<descriptor> listen(const socket_address& address, const listen_options& options) override;
  result<descriptor> open_stream(int family, int protocol) override;
  result<descriptor> open_datagram(int family, const socket_address& address,
                                   const listen_options& options) override;
  result<void> probe_stream(const socket_address& address, int protocol) override;
  result<void> probe_datagram(const socket_address& address) override;
  result<descriptor> open_append(const std::string& path) override;
  [[nodiscard]] file_store& files() override { return os_files(); }
  [[nodiscard]] socket_address local_address(const descriptor& descriptor) const override;
  [[nodiscard]] socket_address remote_address(const descriptor& descriptor) const override;
  [[nodiscard]] std::size_t unacknowledged(const descriptor& descriptor) const override;
  void shut_down(const descriptor& descriptor) override;
  void keep_alive(const descriptor& descriptor, std::chrono::seconds interval) override;
  void shut_down_send(const descriptor& descriptor) override;
  void send_at_once(const descriptor& descriptor, byte_span bytes) override;
  task<result<std::vector<socket_address>>> resolve(std::string host, std::uint16_t port) override;
  task<result<host_records>> resolve_records(std::string host, std::uint16_t port) override;

 protected:
  /// The size of a receive buffer: 32 KiB plus their framing. Not a power of two, whose multiples
  /// would all map to the same cache sets.
  static constexpr std::uint32_t buffer_size = 36864;
  static constexpr std::uint16_t buffer_count = 128;  // a power of two, for io_uring

  os_loop();

  /// Sends as much of the file as the socket accepts at once, and no more than one turn should
  /// send. Returns the number of bytes, or a negative errno (-EAGAIN: none now).
  [[nodiscard]] static int send_file_now(int fd, const file_part& part);

  [[nodiscard]] time_point read_clock() const override;
  void wake() override;
  [[nodiscard]] int wake_fd() const { return wake_fd_.get(); }
  /// Checks the eventfd; called by the backends' `make()` before all else. Errors: no descriptor
  /// was left for it.
  [[nodiscard]] result<void> check_wake_fd() const;
  /// Empties the eventfd, so that the next `wake()` is noticed.
  void drain_wake_fd() const;

 private:
  struct resolution;
  task<found_host> look_up(std::string host, std::uint16_t port, name_lookup::depth depth);

  unique_fd wake_fd_;
  int wake_errno_ = 0;
};

/// Reports whether a loop can adopt and poll a kernel descriptor: not in a simulation, whose
/// descriptors are its own.
[[nodiscard]] bool polls_kernel_descriptors(const loop& loop);

/// Accepts a connection that waits in the queue of a listening socket. Returns its descriptor, for
/// `adopt()`, or a negative errno (-EAGAIN: none waits); in a simulation none ever does.
[[nodiscard]] int accept_waiting(const loop& loop, const descriptor& listening);

}  // namespace strata::loop
