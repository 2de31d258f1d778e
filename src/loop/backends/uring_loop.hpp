// The loop on io_uring: SINGLE_ISSUER and DEFER_TASKRUN, multishot accept and receive into a ring
// of provided buffers, one system call per turn. Least kernel 6.1; `make` reports missing features.
// Source: io_uring_setup(2), io_uring_enter(2), io_uring_register(2).
#pragma once

#include <liburing.h>

#include <vector>

#include "loop/backends/buffer_queue.hpp"
#include "loop/backends/uring_buffers.hpp"
#include "loop/os_loop.hpp"

namespace strata::loop {

class uring_loop final : public os_loop {
 public:
  /// Called on the thread that will run the loop. Errors: not_supported and permission_denied if
  /// io_uring is missing or forbidden.
  static result<std::unique_ptr<loop>> make();
  ~uring_loop() override;

  [[nodiscard]] std::string_view backend() const override { return "io_uring"; }
  void accept(const descriptor& descriptor, request& asker) override;
  void receive(const descriptor& descriptor, request& asker) override;
  void receive_from(const descriptor& descriptor, request& asker) override;
  void send(const descriptor& descriptor, std::span<const slice> data, request& asker) override;
  void send_file(const descriptor& descriptor, const file_part& part, request& asker) override;
  void send_to(const descriptor& descriptor, const socket_address& address, slice datagram,
               request& asker) override;
  void connect(const descriptor& descriptor, const socket_address& address,
               request& asker) override;
  void poll(const descriptor& descriptor, unsigned events, request& asker) override;
  void write(const descriptor& descriptor, slice data, request& asker) override;
  void sync(const descriptor& file, request& asker) override;

 protected:
  void close_fd(int fd) override;
  void cancel(operation& operation) override;
  void wake() override;
  void wait(time_point deadline) override;

 private:
  struct sending;
  struct sending_datagram;
  struct sending_file;
  struct connecting;
  struct receiving;
  struct receiving_stream;
  struct receiving_datagrams;
  struct end_guard;
  /// The state of a descriptor's stream.
  struct stream_watch {
    end_guard* guard = nullptr;          // held by the kernel
    receiving_stream* reader = nullptr;  // to be notified of the end
    bool has_ended = false;
    bool is_reader_slow = false;  // it was busy when bytes arrived
  };

  uring_loop() = default;
  result<void> set_up();
  io_uring_sqe& next_sqe();
  /// Ties `sqe` to `operation`, on which the kernel works from the next submission on.
  void entrust(io_uring_sqe& sqe, const operation& operation);
  /// Passes the receive to the kernel, or queues it until a buffer is free.
  void submit_receive(receiving& receiving);
  void hand_over(receiving& receiving);
  void submit_waiting();
  /// Reports whether the kernel holds the receive, so that it must be cancelled there.
  bool stop_receiving(receiving& receiving);
  void submit_send(sending& sending);
  /// Reports whether a send continues although it appears to have ended.
  bool sends_again(sending& sending, int result);
  void step_send_file(sending_file& file);
  /// Decides whether the receive is submitted as multishot.
  bool takes_many(receiving_stream& stream);
  stream_watch& watch_of(int fd);
  void watch_for_end(receiving_stream& stream);
  /// Stops notifying `stream` of its stream's end.
  void leave(const receiving_stream& stream);
  /// Handles the kernel's last completion of `stream`.
  void end(const receiving_stream& stream);
  void forget(int fd);
  void take_guard(end_guard* fired, int result);
  void restart_ended();
  bool takes_up_again(receiving& ended, int result);
  void watch_wake_fd();
  void reap();
  void take(const io_uring_cqe& entry);
  /// Moves the received bytes into `reaped`.
  void take_bytes(const io_uring_cqe& entry, event& reaped);
  void take_datagram(buffer whole, event& reaped);

  io_uring ring_{};
  bool ring_open_ = false;
  bool is_ending_ = false;
  uring_buffers buffers_{buffer_count, buffer_size};
  buffer_queue seekers_;               // receives that wait for a buffer
  std::vector<stream_watch> watches_;  // by descriptor
  std::vector<int> ended_;             // descriptors whose streams ended in this reap
  std::uint64_t turns_ = 0;
  /// Operations that the kernel still holds; the destructor waits for them.
  std::size_t in_flight_ = 0;
};

}  // namespace strata::loop
