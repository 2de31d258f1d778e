// One loop's part of a server: its listeners, its members, and what they say to each other.
//
// Shards of one server tell each other what their members said by posting to each other's loops.
#pragma once

#include <deque>
#include <memory>
#include <variant>
#include <vector>

#include "http/served_connection.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/scheme.hpp"
#include "runtime/file_sink.hpp"
#include "runtime/server/arrival.hpp"
#include "runtime/server/broadcast_log.hpp"
#include "runtime/server/member.hpp"
#include "runtime/server/options.hpp"
#include "runtime/server/policy.hpp"
#include "runtime/server/state.hpp"
#include "runtime/server/web/site.hpp"
#include "runtime/sharded.hpp"
#include "serve/acceptor.hpp"
#include "serve/memory_watch.hpp"

namespace strata::runtime::server {

class datagram_port;
class shard_script;

class shard final : public part, private loop::turn_end_hook, private loop::timer {
 public:
  shard(std::shared_ptr<server_state> shared, loop::loop& loop, std::size_t number,
        server_options options, std::string name);
  ~shard() override;

  /// Starts to listen. Errors: of the first that cannot be bound.
  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override;
  /// Stops listening, and hears its members no more; what they said before is on its way.
  void fall_silent() override;
  /// Ends all members; first delivers what waits, until `limit`, if the options say so.
  [[nodiscard]] loop::task<> close(loop::time_point limit) override;
  void apply(const live_edit<server_options>& edit);
  /// To all members. Says how many took it.
  std::uint64_t broadcast(byte_span message);
  /// To one of its own. False: it has gone.
  bool send_to(std::uint64_t id, byte_span message);
  /// Its members, for people.
  [[nodiscard]] std::vector<client_report> report() const;
  /// One of its own. False: it has gone.
  bool disconnect(std::uint64_t id);

  // --- for members
  [[nodiscard]] loop::loop& loop() { return loop_; }
  [[nodiscard]] server_state& state() { return *state_; }
  [[nodiscard]] counters& count() { return counters_; }
  /// Counts a client that is refused, and logs it: see `note_refusal`.
  void refuse(const loop::socket_address& client, refusal kind, std::string_view reason);
  [[nodiscard]] const server_options& options() const { return options_; }
  [[nodiscard]] proto::framing framing() const { return framing_; }
  [[nodiscard]] std::uint64_t next_id();
  /// It stops: what members say is not heard any more.
  [[nodiscard]] bool is_silent() const { return silent_; }
  void enter(member& arrived);
  void leave(member& gone);
  /// A whole message from one of the members.
  void on_message(member& member, const message& message);
  /// Delivers what the messages of one read gave; called when they have all been seen.
  void publish();
  void count_in(member& member, std::uint64_t bytes);
  void count_out(member& member, std::uint64_t messages, std::uint64_t bytes);
  /// So much waits for a member that it does not take `messages` more: ends it, if the options say
  /// so. `told`: it has been said before, once is enough for the log.
  void on_slow(member& member, std::uint64_t messages, const loop::socket_address& address,
               std::size_t unsent, bool& told);
  /// To be told of what comes and of what is to go.
  [[nodiscard]] serve::memory_watch& memory() { return memory_; }
  /// The name of the runtime.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// For members that come by HTTP.
  [[nodiscard]] site& web() { return site_; }
  /// It is told when the shard falls silent, and given time to end.
  void enter_web(http::served_connection& arrived);
  /// Runs what serves a connection until it ends, or the shard does.
  void adopt(loop::task<> serving) { acceptor_.adopt(std::move(serving)); }
  /// Clients may speak TLS, also where they need not.
  [[nodiscard]] bool secure() const { return state_->secure->get() != nullptr; }
  /// Agrees on it; false when that fails.
  [[nodiscard]] loop::task<bool> start_tls(net::stream& stream) {
    return acceptor_.start_tls(stream, state_->secure->get());
  }

  /// Awaits that the script has heard what was said.
  [[nodiscard]] loop::task<> heard(const member& member);

  // --- for the script
  /// The server's mode decides what becomes of it.
  void follow_mode(member& member, const message& message) {
    policy_->on_message(*this, member, message);
  }
  /// Null: there is none.
  [[nodiscard]] shard_script* script() const { return script_.get(); }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// All members of all shards hear it, but `except`.
  void say(const message& message, std::uint64_t except);

  // --- for policies
  /// Writes it to the file and to those who follow the messages.
  void keep(member& member, const message& message);
  /// All others hear it.
  void say(member& member, const message& message) { say(message, member.id()); }
  /// One member alone hears it.
  void tell(member& member, const message& message);
  /// A member of any shard, by its number; dropped when it has gone.
  void tell_member(std::uint64_t id, const std::string& message);

  /// Opens the files again that it appends to. Errors: of the first that cannot be opened.
  [[nodiscard]] result<void> open_files_again();
  [[nodiscard]] const counters& counted() const override { return counters_; }
  [[nodiscard]] const web_figures& counted_web() const { return site_.counted(); }

 private:
  void on_turn_end() override;
  void on_timer() override;
  void arm_sweep();
  result<void> open_script();
  result<void> open_target(net::bind_target& target);
  [[nodiscard]] serve::reception reception();
  [[nodiscard]] protocol protocol_of(const net::endpoint_url& url) const;
  bool within_limits(member& member);
  /// Shows a message between a member and the server, or another member, to those who tap it.
  void show(bool is_outgoing, const member& member, std::string sender, std::string receiver,
            byte_span message);
  /// Offers a batch to one member. How many of its messages it took.
  std::size_t offer_to(member& member, const batch& messages, std::uint64_t speaker);
  /// How many members took all of what waits.
  std::uint64_t deliver(std::uint64_t except);
  void take_far(const far_batch& batch);
  void deliver_told();
  /// Awaits that the connections of HTTP have ended.
  /// What was accepted is on disk and, of those that drain, with the clients; it answers nothing.
  [[nodiscard]] loop::task<bool> deliver(loop::time_point limit);
  [[nodiscard]] loop::task<> web_ended(loop::time_point limit);
  [[nodiscard]] loop::task<> farewells_said(loop::time_point limit);
  /// All of its streams carry HTTP, so that a client above the limit can be answered.
  [[nodiscard]] bool carries_http_alone() const;
  [[nodiscard]] member* find(std::uint64_t id);
  using holder = std::variant<member*, http::served_connection*>;
  [[nodiscard]] std::uint64_t memory_limit() const;
  /// Adds up what connections hold, and lets some go if it is too much.
  serve::memory_watch::view look_at_memory();
  void let_go(std::uint64_t held);

  std::shared_ptr<server_state> state_;
  loop::loop& loop_;
  std::uint64_t number_;
  server_options options_;
  proto::framing framing_;
  const policy* policy_;
  counters counters_;
  broadcast_log log_;
  std::uint64_t speaker_ = 0;  // whose messages stand in log_
  broadcast_log told_;         // for one member alone; of the two logs, one is empty
  member* told_to_ = nullptr;
  far_batch far_;  // for the other shards, at the turn's end
  std::unique_ptr<file_sink> file_;
  site site_;
  std::vector<member*> members_;
  http::served_connection::list web_connections_;
  std::size_t cared_for_ = 0;  // members that are looked after
  bool silent_ = false;
  serve::memory_watch memory_;
  serve::acceptor acceptor_;
  loop::task_group hearing_;
  std::deque<datagram_port> datagram_ports_;
  std::string name_;  // of the runtime
  std::unique_ptr<shard_script> script_;
};

}  // namespace strata::runtime::server
