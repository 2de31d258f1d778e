// A loop in a simulated world (sim_world.hpp): the same verbs, virtual time, memory as the network.
#pragma once

#include <algorithm>
#include <map>

#include "loop/backends/sim_world.hpp"
#include "loop/loop.hpp"

namespace strata::loop {

class sim_loop final : public loop, private buffer::pool {
 public:
  explicit sim_loop(sim_world& world) : world_(world) { update_now(); }
  ~sim_loop() override;

  /// Runs nothing for that time, as a process that is stopped, or on a machine that sleeps: for it,
  /// the clock jumps. Zero ends a pause.
  void pause(duration span) { paused_until_ = world_.now() + span; }
  [[nodiscard]] bool is_paused() const { return world_.now() < paused_until_; }
  /// Looks at the clock, as each turn does first.
  void read_time() { update_now(); }

  [[nodiscard]] std::string_view backend() const override { return "simulation"; }
  result<descriptor> listen(const socket_address& address, const listen_options& options) override;
  result<descriptor> open_stream(int family, int protocol) override;
  result<descriptor> open_datagram(int family, const socket_address& address,
                                   const listen_options& options) override;
  result<void> probe_stream(const socket_address& address, int protocol) override;
  result<void> probe_datagram(const socket_address& address) override;
  result<descriptor> open_append(const std::string& path) override;
  [[nodiscard]] file_store& files() override { return world_; }
  [[nodiscard]] socket_address local_address(const descriptor& descriptor) const override;
  [[nodiscard]] socket_address remote_address(const descriptor& descriptor) const override;
  [[nodiscard]] std::size_t unacknowledged(const descriptor& descriptor) const override;
  void shut_down(const descriptor& descriptor) override;
  void shut_down_send(const descriptor& descriptor) override;
  void send_at_once(const descriptor& descriptor, byte_span bytes) override;
  task<result<std::vector<socket_address>>> resolve(std::string host, std::uint16_t port) override;
  task<result<host_records>> resolve_records(std::string host, std::uint16_t port) override;
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
  void wake() override {}
  void wait(time_point /*deadline*/) override {}
  [[nodiscard]] time_point read_clock() const override { return world_.now(); }

 private:
  friend class sim_world;

  sim_world::sim_operation& ask(operation::kind kind, const descriptor& descriptor, request& asker);
  [[nodiscard]] bool runnable() const {
    return !is_paused() && (has_work() || next_timer() <= world_.now());
  }
  /// When it is to run next, if nothing else happens.
  [[nodiscard]] time_point due() const {
    if (!is_paused()) return next_timer();
    return has_work() ? paused_until_ : std::max(next_timer(), paused_until_);
  }
  /// Queues received bytes in a buffer of this loop.
  void deliver_bytes(operation& operation, std::string bytes, const socket_address& address);
  void deliver_result(operation& operation, int outcome, bool more) {
    queue({.of = &operation, .result = outcome, .more = more, .data = {}, .from = {}});
  }
  void give_back(std::uint32_t id) override;
  /// Reports whether another buffer may be lent.
  [[nodiscard]] bool has_buffer() const { return lent_.size() < world_.faults.buffers; }
  /// Checks after a turn that no waiting coroutine holds a lent buffer.
  void check_lent() const;

  sim_world& world_;
  std::map<std::uint32_t, std::string> lent_;
  std::vector<std::uint64_t> starved_;  // endpoints whose readers wait for a buffer
  std::uint32_t next_buffer_ = 0;
  time_point paused_until_ = time_point::min();
};

}  // namespace strata::loop
