// A client as the script of its shard sees it: its ordered events, and its data.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "runtime/scripting/script_connection.hpp"
#include "runtime/scripting/sequence.hpp"
#include "runtime/server/member.hpp"
#include "runtime/server/message.hpp"
#include "runtime/server/script/client_data.hpp"
#include "runtime/server/script/far_pipe.hpp"

namespace strata::runtime::server {

class shard_script;

struct script_client final : scripting::sequence::owner {
  script_client(shard_script& script, member& member);

  std::uint64_t id;
  member* is;               ///< null once it has left
  bool is_refused = false;  ///< by on_auth: its events are not reported any more
  bool is_leaving = false;  ///< it is being disconnected: its messages are dropped
  /// The connection that gets its messages in place of the script; null if there is none.
  std::shared_ptr<scripting::script_connection> routed;
  std::string route;        ///< name given by the script
  std::uint64_t piped = 0;  ///< the client that gets its messages in place of the script; 0: none
  /// The way of its messages to a client of another runtime; null if there is none.
  std::shared_ptr<far_pipe> coupled;
  /// The script decides whether it may be master: its messages are queued meanwhile.
  bool is_claiming = false;
  std::deque<std::pair<message_kind, std::string>> withheld;
  client_data data;
  scripting::sequence turns;

 private:
  bool is_for_script(std::string_view message) override;
  void on_ended(scripting::callback callback, const script::finished& outcome) override;
  void on_settled() override;

  shard_script& script_;
};

}  // namespace strata::runtime::server
