// The script of one shard of a server: its view of the clients, and when its callbacks run.
//
// The events of one client are reported to the script in order: while a callback for a client
// waits, later events of that client are queued, and the client is not read from.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <string>
#include <vector>

#include "loop/condition.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/server/member.hpp"
#include "runtime/server/message.hpp"
#include "runtime/server/options.hpp"
#include "runtime/server/script/client_functions.hpp"
#include "runtime/server/script/client_groups.hpp"
#include "runtime/server/script/client_routes.hpp"
#include "runtime/server/script/request_answers.hpp"
#include "runtime/server/script/script_client.hpp"
#include "runtime/server/script/upstreams.hpp"

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
  /// Returns false if the script has no callback for the message.
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
  /// Waits, until `limit`, until the script has answered its pending requests and messages; reports
  /// whether it has.
  [[nodiscard]] loop::task<bool> answered(loop::time_point limit);
  /// Its answers to HTTP requests.
  [[nodiscard]] request_answers& answers() { return answers_; }

  [[nodiscard]] const scripting::script_figures& counted() const { return host_.counted(); }
  [[nodiscard]] std::vector<std::string> groups_of(std::uint64_t id) const {
    return groups_.names(id);
  }

  // --- for its parts
  [[nodiscard]] scripting::host& host() { return host_; }
  /// Null if there is none. A client that has left stays until its events have been reported.
  [[nodiscard]] script_client* find(std::uint64_t id) const;
  [[nodiscard]] client_groups& groups() { return groups_; }
  /// Sends to a client of any shard. Returns false if it has left, as far as this loop knows.
  bool send(std::uint64_t id, std::string_view message);
  /// Sends to all clients of all shards, except `except`.
  void broadcast(std::string_view message, std::uint64_t except);
  /// Receives the end of a callback that was called for a client.
  void on_ended(script_client& client, scripting::callback callback,
                const script::finished& outcome);
  /// Called when the last queued event of a client has been reported.
  void on_settled(const script_client& client);
  /// Lets those go on that wait for a client's events, or for an answer.
  void notify() { settled_.notify(); }

  // --- from other shards
  void send_to_group(const std::string& group, const std::string& message, std::uint64_t except);
  [[nodiscard]] std::vector<std::uint64_t> clients() const;
  void disconnect(std::uint64_t id);
  [[nodiscard]] client_routes& routes() { return routes_; }
  /// The upstreams of the first shard's script; the others have none.
  [[nodiscard]] upstreams& up() { return upstreams_; }

 private:
  void on_admission(script_client& client, bool is_admitted);
  /// Queues the message behind a claim to be master. Returns false if there is no claim.
  bool withhold(member& member, const message& message);
  void on_turn_end() override;
  loop::task<> see_off(std::uint64_t id);

  shard& home_;
  scripting::host host_;
  upstreams upstreams_;
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<script_client>> clients_;
  mutable script_client* found_ = nullptr;  // cache: the next look-up is often for the same client
  script_client* speaks_ = nullptr;  // client whose messages are not reported to the script yet
  client_groups groups_;
  loop::condition settled_;
  loop::task_group leaving_;
  client_routes routes_;
  request_answers answers_;
  client_functions functions_;
};

}  // namespace strata::runtime::server
