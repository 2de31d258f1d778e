// The loop on epoll, for systems where io_uring is missing or forbidden: edge-triggered, one
// registration per descriptor, and the same completions as the io_uring loop. Least kernel 5.11.
// Source: epoll(7), epoll_pwait2(2).
#pragma once

#include <memory>
#include <vector>

#include "loop/backends/buffer_queue.hpp"
#include "loop/os_loop.hpp"

namespace strata::loop {

class epoll_loop final : public os_loop, private buffer::pool {
 public:
  static result<std::unique_ptr<loop>> make();
  ~epoll_loop() override;

  [[nodiscard]] std::string_view backend() const override { return "epoll"; }
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
  void wait(time_point deadline) override;

 private:
  struct sending;
  struct sending_file;
  struct polling;
  struct receiving;

  /// The state and the requests of one descriptor.
  struct watch {
    operation* reader = nullptr;
    std::vector<operation*> writers;  // oldest first
    bool registered = false;
    bool readable = true;   // not yet found empty since the last edge
    bool writable = true;   // not yet found full since the last edge
    bool hung_up = false;   // the end or an error is still to be read
    bool in_ready = false;  // is in ready_
    /// Another process may have a copy. The kernel reports events until all copies are closed.
    bool may_be_shared = false;
  };

  epoll_loop() = default;
  watch& watch_of(int fd);
  void start_reader(operation& operation);
  void start_shared_reader(operation& operation);
  void start_writer(operation& operation);
  int register_fd(int fd);
  void push_ready(int fd);
  void run_ready();
  void take_edge(int fd, unsigned events);
  /// Each performs one step of a request and reports whether more may follow at once.
  bool step_reader(int fd);
  bool take_step(int fd);
  bool step_accept(operation& operation);
  bool step_receive(operation& operation, watch& state);
  bool step_receive_from(operation& operation);
  bool step_poll(operation& operation);
  bool step_writer(operation& operation);
  [[nodiscard]] static int send_now(sending& data);
  void run_writers(int fd);
  void finish(operation& operation, int result) {
    queue({.of = &operation, .result = result, .more = false, .data = {}, .from = {}});
  }
  void finish_reader(operation& operation, int result);
  void serve_seekers();
  void give_back(std::uint32_t id) override { free_buffers_.push_back(id); }

  unique_fd epoll_fd_;
  std::vector<watch> watches_;
  std::vector<int> ready_;
  buffer_queue seekers_;  // readable, but no buffer was free
  std::unique_ptr<std::byte[]> buffer_memory_;
  std::vector<std::uint32_t> free_buffers_;
};

}  // namespace strata::loop
