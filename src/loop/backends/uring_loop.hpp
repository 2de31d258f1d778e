// The loop on io_uring: SINGLE_ISSUER and DEFER_TASKRUN, multishot accept and receive into a ring
// of provided buffers, one system call a turn. Least kernel 6.1; `make` says what is missing.
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
  /// To be called on the thread that will run the loop. Errors: not_supported and
  /// permission_denied where io_uring is missing or forbidden.
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
  /// What is known of a descriptor's stream.
  struct stream_watch {
    end_guard* guard = nullptr;          // that the kernel holds
    receiving_stream* reader = nullptr;  // to be told of the end
    bool has_ended = false;
    bool is_reader_slow = false;  // it was busy when bytes came
  };

  uring_loop() = default;
  result<void> set_up();
  io_uring_sqe& next_sqe();
  /// The kernel works on `operation` from the next submission on; `sqe` says at what.
  void entrust(io_uring_sqe& sqe, const operation& operation);
  /// Hands `receiving`'s receive to the kernel, or lets it wait until a buffer is free.
  void submit_receive(receiving& receiving);
  void hand_over(receiving& receiving);
  void submit_waiting();
  /// Says whether the kernel has it and must be told.
  bool stop_receiving(receiving& receiving);
  void submit_send(sending& sending);
  /// Whether a send goes on that seems to have ended.
  bool sends_again(sending& sending, int result);
  void step_send_file(sending_file& file);
  /// How it is to be handed over.
  bool takes_many(receiving_stream& stream);
  stream_watch& watch_of(int fd);
  void watch_for_end(receiving_stream& stream);
  /// It need not be told of its stream's end any more.
  void leave(const receiving_stream& stream);
  /// The kernel has told its last.
  void end(const receiving_stream& stream);
  void forget(int fd);
  void take_guard(end_guard* fired, int result);
  void restart_ended();
  bool takes_up_again(receiving& ended, int result);
  void watch_wake_fd();
  void reap();
  void take(const io_uring_cqe& entry);
  /// Gives `reaped` what was received.
  void take_bytes(const io_uring_cqe& entry, event& reaped);
  void take_datagram(buffer whole, event& reaped);

  io_uring ring_{};
  bool ring_open_ = false;
  bool is_ending_ = false;
  uring_buffers buffers_{buffer_count, buffer_size};
  buffer_queue seekers_;               // receives that wait for a buffer
  std::vector<stream_watch> watches_;  // by descriptor
  std::vector<int> ended_;             // descriptors whose streams have ended, of this reap
  std::uint64_t turns_ = 0;
  /// Operations that the kernel still holds; the destructor waits for them.
  std::size_t in_flight_ = 0;
};

}  // namespace strata::loop
