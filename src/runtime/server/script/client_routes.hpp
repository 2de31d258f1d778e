// The routes of a scripted server's clients: their messages go to another runtime, to a URL, or to
// another client, in place of the script.
//
// For the loop of the clients' shard.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "loop/task_group.hpp"
#include "runtime/scripting/script_connection.hpp"
#include "runtime/server/script/script_client.hpp"
#include "script/library.hpp"

namespace strata::runtime::server {

class shard;
class shard_script;

class client_routes {
 public:
  /// Both outlive the routes.
  client_routes(shard& shard, shard_script& script) : home_(shard), script_(script) {}

  [[nodiscard]] static bool is_routed(const script_client& client) {
    return client.routed != nullptr || client.piped != 0 || client.coupled != nullptr;
  }
  /// Passes on a client's message. Returns false if the client is not routed.
  [[nodiscard]] bool carry(script_client& client, std::string_view text);
  /// Whether the client is not to be read from, because the target of its route has a full queue.
  [[nodiscard]] static bool is_held_up(const script_client& client);
  /// Routes a client to a runtime or a URL. The answers are those of `self.route`.
  [[nodiscard]] loop::task<script::answers> open(std::uint64_t id, std::string name);
  /// Ends the route, if there is one. Data still on its way from its target is dropped.
  static void close(script_client& client);
  /// Ends the route or the pipe of a client that has left.
  void leave(script_client& client);
  /// Sends the messages of a client, of any shard, to another client; 0: to the script again.
  void pipe(std::uint64_t id, std::uint64_t end);
  /// Sends the messages of a client of this shard to a client of another runtime. Returns false if
  /// there is no such client.
  [[nodiscard]] bool couple(std::uint64_t id, far_client end);
  /// Ends that, if it leads to `end`. Returns false if it does not.
  [[nodiscard]] bool uncouple(std::uint64_t id, const far_client& end);
  /// Ends all, without waiting for their targets.
  void end() { carrying_.cancel(); }

 private:
  void pipe_here(std::uint64_t id, std::uint64_t end);
  [[nodiscard]] loop::task<script::answers> begin(
      std::uint64_t id, std::string name, std::shared_ptr<scripting::script_connection> connection);
  loop::task<> carry_back(std::uint64_t id,
                          std::shared_ptr<scripting::script_connection> connection);
  loop::task<> await_room(std::shared_ptr<scripting::script_connection> connection);
  loop::task<> await_room(std::shared_ptr<far_pipe> pipe);
  loop::task<> drop_couple(std::uint64_t id);
  loop::task<> finish(std::shared_ptr<far_pipe> pipe);
  loop::task<> tell_end(std::shared_ptr<far_pipe> pipe, std::uint64_t id);

  shard& home_;
  shard_script& script_;
  loop::task_group carrying_;
};

}  // namespace strata::runtime::server
