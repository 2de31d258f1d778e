// The script of one shard of a server: its view of the clients, and when its functions run.
//
// The events of one client are reported to the script in order: while a function for a client
// waits, later events of that client are queued, and the client is not read from.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <string>
#include <vector>

#include "http/exchange.hpp"
#include "loop/condition.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/server/client_groups.hpp"
#include "runtime/server/member.hpp"
#include "runtime/server/message.hpp"
#include "runtime/server/options.hpp"
#include "runtime/server/upstreams.hpp"

namespace strata::runtime::scripting {
struct given_answer;
class script_connection;
}  // namespace strata::runtime::scripting

namespace strata::runtime::server {

class shard;

class shard_script final : private loop::turn_end_hook {
 public:
  shard_script(shard& shard, const server_options& options, scripting::identity identity);
  ~shard_script() override;

  result<void> open() { return host_.open(); }
  result<void> begin();
  loop::task<> end(loop::time_point limit);
  result<void> reload() { return host_.reload(); }
  loop::task<result<nlohmann::json>> evaluate(std::string text, loop::time_point limit) {
    return host_.evaluate(std::move(text), limit);
  }

  void enter(member& arrived);
  /// Whether the script admits clients one by one.
  [[nodiscard]] bool lets_in() const { return host_.has(scripting::callback::auth); }
  void leave(member& gone);
  /// Returns false if the script has no function for the message.
  bool on_message(member& member, const message& message);
  /// Whether the script decides who may be master.
  [[nodiscard]] bool decides_master() const { return host_.has(scripting::callback::master_auth); }
  void ask_master(member& member, std::string_view password);
  /// Reports the latest messages to the script now.
  void catch_up();
  /// Whether events of the client are still queued for the script.
  [[nodiscard]] bool is_busy(std::uint64_t id) const;
  /// Waits until none are queued any more.
  [[nodiscard]] loop::task<> idle(std::uint64_t id);

  /// Passes a message from `strata send` through the script: nullopt if the script drops it.
  loop::task<std::optional<std::string>> on_send(std::string message);
  [[nodiscard]] bool answers_http() const {
    return host_.has(scripting::callback::http_request) ||
           host_.has(scripting::callback::http_body);
  }
  /// Answers the request, and returns true; false if the script leaves it to others.
  loop::task<bool> answer(http::exchange& exchange);
  struct websocket_choice {
    bool is_refused = false;
    std::string protocol;  ///< empty: as the options say
  };
  loop::task<websocket_choice> choose(http::exchange& exchange);
  /// Waits, until `limit`, until the script has answered its pending requests and messages; reports
  /// whether it has.
  [[nodiscard]] loop::task<bool> answered(loop::time_point limit);

  // --- from other shards
  void send_to_group(const std::string& group, const std::string& message, std::uint64_t except);
  [[nodiscard]] std::vector<std::uint64_t> clients() const;
  void disconnect_here(std::uint64_t id);
  void pipe_here(std::uint64_t id, std::uint64_t end);
  /// The upstreams of the first shard's script; the others have none.
  [[nodiscard]] upstreams& up() { return upstreams_; }

  [[nodiscard]] const scripting::script_figures& counted() const { return host_.counted(); }
  [[nodiscard]] std::vector<std::string> groups_of(std::uint64_t id) const {
    return groups_.names(id);
  }

 private:
  struct client;

  [[nodiscard]] client* find(std::uint64_t id) const;
  /// Whether the client has not left.
  [[nodiscard]] bool is_there(std::uint64_t id) const;
  void on_ended(client& one, scripting::callback callback, const script::finished& outcome);
  void on_admission(client& one, bool is_admitted);
  /// Queues the message behind a claim to be master. Returns false if there is no claim.
  bool withhold(member& member, const message& message);
  void on_settled(const client& one);
  void on_turn_end() override;
  loop::task<> see_off(std::uint64_t id);

  /// Counts an answer while it lives.
  class answer_count;

  // --- requests, in script_http.cpp. An answer whose head is null: the script leaves it
  loop::task<result<scripting::given_answer>> ask_for_taker(http::exchange& exchange);
  loop::task<result<scripting::given_answer>> ask_for_answer(http::exchange& exchange);

  // --- clients whose messages go elsewhere, in script_routes.cpp
  [[nodiscard]] static bool is_carried(const client& one);
  /// Passes on a client's message, if it is routed.
  [[nodiscard]] bool carry(client& one, std::string_view text);
  /// Whether the client is not to be read from, because the target of its route has a full queue.
  [[nodiscard]] static bool is_held_up(const client& one);
  loop::task<script::answers> begin_route(std::uint64_t id, std::string name,
                                          std::shared_ptr<scripting::script_connection> connection);
  loop::task<> carry_back(std::uint64_t id,
                          std::shared_ptr<scripting::script_connection> connection);
  loop::task<> await_room(std::shared_ptr<scripting::script_connection> connection);
  static void end_route(client& one);
  void set_pipe(std::uint64_t id, std::uint64_t end);
  /// Returns false if the client has left, as far as this loop knows.
  bool send(std::uint64_t end, std::string_view message);

  // --- functions of the script
  void call_send(script::call& call);
  void call_broadcast(script::call& call);
  void call_multicast(script::call& call);
  void call_disconnect(script::call& call);
  loop::task<script::answers> call_clients(script::call& call);
  void call_peer(script::call& call);
  void call_peer_ip(script::call& call);
  void call_set_data(script::call& call);
  void call_get_data(script::call& call);
  void call_join_group(script::call& call);
  void call_leave_group(script::call& call);
  void call_group_send(script::call& call);
  void call_connections(script::call& call);
  loop::task<script::answers> call_route(script::call& call);
  void call_unroute(script::call& call);
  void call_get_route(script::call& call);
  void call_pipe(script::call& call);
  void call_unpipe(script::call& call);
  loop::task<script::answers> call_upstreams(script::call& call);
  loop::task<script::answers> call_upstream_send(script::call& call);
  loop::task<script::answers> call_upstream_broadcast(script::call& call);
  static const script::function_row functions[];
  friend std::span<const script::function_row> script_functions();

  shard& home_;
  scripting::host host_;
  upstreams upstreams_;
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<client>> clients_;
  mutable client* found_ = nullptr;  // cache: most often the next look-up is for the same client
  client* speaks_ = nullptr;         // client whose messages are not reported to the script yet
  client_groups groups_;
  loop::condition settled_;
  std::size_t answers_ = 0;  // number of requests that it is answering
  loop::task_group leaving_;
  loop::task_group carrying_;
};

/// The functions of `self` for servers' scripts.
[[nodiscard]] std::span<const script::function_row> script_functions();

}  // namespace strata::runtime::server
