// One loop's part of a server: its listeners, its members, and their messages.
//
// Shards of one server exchange their members' messages by posting to each other's loops.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "http/served_connection.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/scheme.hpp"
#include "runtime/file_sink.hpp"
#include "runtime/server/arrival.hpp"
#include "runtime/server/cache_links.hpp"
#include "runtime/server/connection_memory.hpp"
#include "runtime/server/delivery.hpp"
#include "runtime/server/member.hpp"
#include "runtime/server/options.hpp"
#include "runtime/server/policy.hpp"
#include "runtime/server/state.hpp"
#include "runtime/server/web/site.hpp"
#include "runtime/sharded.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime::server {

class datagram_port;
class shard_script;

class shard final : public part, private loop::timer {
 public:
  shard(std::shared_ptr<server_state> shared, loop::loop& loop, std::size_t number,
        server_options options, std::string name);
  ~shard() override;

  /// Starts to listen. Errors: those of the first endpoint that cannot be bound.
  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override;
  [[nodiscard]] loop::task<> stop_accepting() override;
  /// Stops listening, and stops receiving from members; earlier messages are still delivered.
  void stop_receiving() override;
  /// Ends all members; delivers unsent messages first, until `limit`, if the options say so.
  [[nodiscard]] loop::task<> close(loop::time_point limit) override;
  void apply(const live_edit<server_options>& edit);
  /// Sends to all members. Returns how many took it.
  std::uint64_t broadcast(byte_span message);
  /// Sends to one of its own members. Returns false if the member has left.
  bool send_to(std::uint64_t id, byte_span message);
  /// Its members, for display.
  [[nodiscard]] std::vector<client_report> report() const;
  /// Disconnects one of its own members. Returns false if the member has left.
  bool disconnect(std::uint64_t id);

  // --- for members
  [[nodiscard]] loop::loop& loop() { return loop_; }
  [[nodiscard]] server_state& state() { return *state_; }
  [[nodiscard]] counters& count() { return counters_; }
  /// Counts and logs a refused client: see `note_refusal`.
  void refuse(const loop::socket_address& client, refusal kind, std::string_view reason);
  [[nodiscard]] const server_options& options() const { return options_; }
  [[nodiscard]] proto::framing framing() const { return framing_; }
  [[nodiscard]] std::uint64_t next_id();
  /// Whether it is stopping: members' messages are not handled any more.
  [[nodiscard]] bool is_silent() const { return silent_; }
  void enter(member& arrived);
  void leave(member& gone);
  /// Handles a complete message from one of the members.
  void on_message(member& member, const message& message);
  /// Delivers the gathered messages; called when all messages of one read have been handled.
  void publish();
  void count_in(member& member, std::uint64_t bytes);
  void count_out(member& member, std::uint64_t messages, std::uint64_t bytes);
  /// Handles a member whose full queue does not take `messages` more: ends it, if the options say
  /// so.
  void on_slow(member& member, std::uint64_t messages, const loop::socket_address& address,
               std::size_t unsent);
  /// To be notified of received bytes and queued output.
  [[nodiscard]] connection_memory& memory() { return memory_; }
  /// Messages on their way; call `publish` after the last one.
  [[nodiscard]] delivery& deliveries() { return deliveries_; }
  /// The name of the runtime.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// For members that use HTTP.
  [[nodiscard]] site& web() { return site_; }
  /// The connection is notified when the shard stops receiving, and given time to end.
  void enter_web(http::served_connection& arrived);
  /// Runs a task that serves a connection until it ends, or the shard does.
  void adopt(loop::task<> serving) { acceptor_.adopt(std::move(serving)); }
  /// Whether clients may use TLS, even where it is optional.
  [[nodiscard]] bool secure() const { return state_->secure->get() != nullptr; }
  /// Performs the handshake; returns false if it fails.
  [[nodiscard]] loop::task<bool> start_tls(net::stream& stream) {
    return acceptor_.start_tls(stream, state_->secure->get());
  }

  /// Whether the script is still handling the member's messages.
  [[nodiscard]] bool is_busy_with(const member& member) const;
  /// Waits until it has handled them.
  [[nodiscard]] loop::task<> handled(const member& member);

  // --- for delivery, and the check of memory
  [[nodiscard]] const std::vector<member*>& members() const { return members_; }
  [[nodiscard]] http::served_connection::list& web_connections() { return web_connections_; }

  // --- for the script
  /// Handles a message by the server's mode.
  void follow_mode(member& member, const message& message) {
    policy_->on_message(*this, member, message);
  }
  /// Null if there is none.
  [[nodiscard]] shard_script* script() const { return script_.get(); }
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // --- for policies
  /// Writes the message to the file, and to the followers of the messages.
  void keep(member& member, const message& message);
  /// Sends to a member of any shard, by its number; dropped if the member has left.
  void send_to_member(std::uint64_t id, const std::string& message);

  /// Opens the files again that it appends to. Errors: those of the first that cannot be opened.
  [[nodiscard]] result<void> open_files_again();
  [[nodiscard]] const counters& counted() const override { return counters_; }
  [[nodiscard]] const web_figures& counted_web() const { return site_.counted(); }

 private:
  void on_timer() override;
  void arm_sweep();
  result<void> open_script();
  result<void> open_target(net::bind_target& target);
  [[nodiscard]] serve::acceptor_settings acceptor_settings();
  [[nodiscard]] protocol protocol_of(const net::endpoint_url& url) const;
  bool within_limits(member& member);
  /// Writes accepted messages to disk and, with `drain`, delivers them to the clients. The result
  /// has no meaning.
  [[nodiscard]] loop::task<bool> deliver(loop::time_point limit);
  [[nodiscard]] loop::task<> web_ended(loop::time_point limit);
  [[nodiscard]] loop::task<> farewells_said(loop::time_point limit);
  /// Whether all of its streams carry HTTP, so that a client above the limit can be answered.
  [[nodiscard]] bool carries_http_alone() const;
  [[nodiscard]] member* find(std::uint64_t id);

  std::shared_ptr<server_state> state_;
  loop::loop& loop_;
  std::uint64_t number_;
  server_options options_;
  proto::framing framing_;
  const policy* policy_;
  counters counters_;
  delivery deliveries_;
  std::unique_ptr<file_sink> file_;
  site site_;
  std::vector<member*> members_;
  http::served_connection::list web_connections_;
  std::size_t pinged_ = 0;  // number of members that `look_after` is called for
  bool silent_ = false;
  connection_memory memory_;
  serve::acceptor acceptor_;
  loop::task_group receiving_;
  std::deque<datagram_port> datagram_ports_;
  std::string name_;  // name of the runtime
  cache_links cache_links_;
  std::unique_ptr<shard_script> script_;
};

}  // namespace strata::runtime::server
