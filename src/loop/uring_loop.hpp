// The loop on io_uring: SINGLE_ISSUER and DEFER_TASKRUN, multishot accept and receive into a ring
// of provided buffers, one system call a turn. Least kernel 6.1; `make` says what is missing.
// Source: io_uring_setup(2), io_uring_enter(2), io_uring_register(2).
#pragma once

#include <liburing.h>

#include <vector>

#include "loop/os_loop.hpp"

namespace strata::loop {

class uring_loop final : public os_loop, private buffer::pool {
 public:
  /// To be called on the thread that will run the loop. Errors: not_supported and
  /// permission_denied where io_uring is missing or forbidden.
  static result<std::unique_ptr<loop>> make();
  ~uring_loop() override;

  [[nodiscard]] std::string_view backend() const override { return "io_uring"; }
  void accept(const descriptor& on, request& asker) override;
  void receive(const descriptor& on, request& asker) override;
  void receive_from(const descriptor& on, request& asker) override;
  void send(const descriptor& on, std::span<const slice> data, request& asker) override;
  void send_file(const descriptor& on, const file_part& from, request& asker) override;
  void send_to(const descriptor& on, const socket_address& to, slice datagram,
               request& asker) override;
  void connect(const descriptor& on, const socket_address& to, request& asker) override;
  void poll(const descriptor& on, unsigned events, request& asker) override;
  void write(const descriptor& to, slice data, request& asker) override;
  void sync(const descriptor& file, request& asker) override;

 protected:
  void close_fd(int fd) override;
  void cancel(operation& which) override;
  void wake() override;
  void wait(time_point deadline) override;

 private:
  struct sending;
  struct sending_file;
  struct addressed;
  struct receiving;
  struct end_guard;

  uring_loop() = default;
  result<void> set_up();
  result<void> set_up_buffers();
  io_uring_sqe& next_sqe();
  /// The kernel works on `of` from the next submission on; `sqe` says at what.
  void entrust(io_uring_sqe& sqe, const operation& of);
  /// Hands `of`'s receive to the kernel, or parks it until a buffer is free.
  void submit_receive(operation& of);
  void submit_parked();
  void step_send_file(sending_file& of);
  void watch_for_end(receiving& of);
  void drop_guard(receiving& of);
  void take_guard(end_guard* fired);
  void restart_ended();
  bool takes_up_again(receiving& ended, int result);
  void watch_wake_fd();
  void reap();
  void take(const io_uring_cqe& entry);
  [[nodiscard]] buffer lend(std::uint32_t id, std::size_t size);
  void give_back(std::uint32_t id) override;
  void offer(std::uint32_t id);

  io_uring ring_{};
  bool ring_open_ = false;
  static constexpr std::size_t buffer_ring_size = buffer_count * sizeof(io_uring_buf);
  io_uring_buf_ring* buffer_ring_ = nullptr;
  std::byte* buffer_memory_ = nullptr;
  std::uint32_t buffers_free_ = 0;      // which the kernel may fill
  std::uint32_t offered_ = 0;           // how many those should be
  std::vector<std::uint32_t> resting_;  // the others that nobody uses
  unsigned calm_ = 0;                   // reaps that have needed few, in a row
  std::vector<operation*> parked_;
  /// Those whose stream has ended and that have not said so, of this reap.
  std::vector<receiving*> ended_;
  /// Operations that the kernel still holds; the destructor waits for them.
  std::size_t in_flight_ = 0;
};

}  // namespace strata::loop
