// One loop's part of a server: its listeners, its members, and what they say to each other.
//
// A shard is made anywhere, then opened, used and destroyed on its loop's thread. Shards of one
// server tell each other what their members said by posting to each other's loops.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "loop/loop.hpp"
#include "loop/socket_file.hpp"
#include "loop/task_group.hpp"
#include "net/endpoint_url.hpp"
#include "net/listener.hpp"
#include "runtime/bind_target.hpp"
#include "runtime/file_sink.hpp"
#include "runtime/runtime.hpp"
#include "runtime/server/broadcast_log.hpp"
#include "runtime/server/member.hpp"
#include "runtime/server/options.hpp"
#include "runtime/server/state.hpp"

namespace strata::runtime {

class datagram_port;

class shard final : private loop::turn_end_hook, private loop::timer {
 public:
  shard(server_state& shared, loop::loop& owner, std::size_t number, server_options options);
  ~shard() override;
  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;

  /// Starts to listen. Ports that were 0 are filled in. Errors: of the first that cannot be bound.
  result<void> open(std::vector<bind_target>& targets, bool share_port);
  /// Stops listening, and hears its members no more; what they said before is on its way.
  void fall_silent();
  /// Ends all members; first delivers what waits, until `limit`, if the options say so.
  loop::task<> close(loop::time_point limit);
  void apply(const server_options& changed);
  /// To all members. Says to how many.
  std::uint64_t broadcast(byte_span message);

  // --- for members -------------------------------------------------------------------------------
  [[nodiscard]] loop::loop& owner() { return loop_; }
  [[nodiscard]] server_state& state() { return state_; }
  [[nodiscard]] counters& count() { return counters_; }
  [[nodiscard]] const server_options& options() const { return options_; }
  [[nodiscard]] proto::framing framing() const { return framing_; }
  [[nodiscard]] std::uint64_t next_id();
  void enter(member& arrived);
  void leave(member& gone);
  /// A whole message from one of the members.
  void on_message(member& from, byte_span message);
  /// Delivers what the messages of one read gave; called when they have all been seen.
  void publish();
  void count_out(std::uint64_t messages, std::uint64_t bytes);

  /// For reading from any thread.
  [[nodiscard]] const counters& counted() const { return counters_; }
  [[nodiscard]] loop::loop_lag lag() const { return loop_.lag(); }

 private:
  void on_turn_end() override;
  void on_timer() override;
  void arm_sweep();
  result<void> open_target(bind_target& target, bool share_port);
  result<void> open_ethernet(const net::endpoint_url& url);
  loop::task<> accept_all(net::listener& from);
  loop::task<> serve(loop::socket connection);
  bool within_limits(member& from);
  void say(member& from, byte_span message);
  void deliver(std::uint64_t except);
  void take_far(const far_batch& from);
  void on_master_message(member& from, byte_span message);
  bool claim(member& from, std::string_view text);
  void forward(member& from, byte_span message);
  void offer_alone(member& to, byte_span message);
  void tell_master(byte_span message);
  [[nodiscard]] member* find(std::uint64_t id);
  [[nodiscard]] bool delivered() const;

  server_state& state_;
  loop::loop& loop_;
  std::uint64_t number_;
  server_options options_;
  proto::framing framing_;
  counters counters_;
  broadcast_log log_;
  std::uint64_t speaker_ = 0;  // whose messages stand in log_
  far_batch far_;              // for the other shards, at the turn's end
  std::unique_ptr<file_sink> file_;
  std::vector<member*> members_;
  bool silent_ = false;
  loop::task_group listening_;
  loop::task_group serving_;
  std::deque<net::listener> listeners_;
  std::vector<loop::socket_file> socket_files_;  // of listeners; they go before those
  std::deque<datagram_port> datagram_ports_;
};

}  // namespace strata::runtime
