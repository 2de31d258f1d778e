// A client as the script of its shard knows it: what is told of it in its order, and its data.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "runtime/scripting/script_connection.hpp"
#include "runtime/scripting/sequence.hpp"
#include "runtime/server/client_data.hpp"
#include "runtime/server/shard_script.hpp"

namespace strata::runtime::server {

struct shard_script::client final : scripting::sequence::owner {
  client(shard_script& script, member& member)
      : id(member.id()), is(&member), turns(script.host_, id, *this), home_(script) {}

  std::uint64_t id;
  member* is;               ///< null once it has gone
  bool is_refused = false;  ///< by on_auth: nothing more is told of it
  bool is_leaving = false;  ///< it is sent away: what it says is heard by nobody
  /// Where its messages go, and the script hears none; else null.
  std::shared_ptr<scripting::script_connection> routed;
  std::string route;        ///< as the script has named it
  std::uint64_t piped = 0;  ///< the client that hears its messages, and the script none; 0: nobody
  /// The script is asked whether it may be master: what it says meanwhile waits.
  bool is_claiming = false;
  std::deque<std::pair<message_kind, std::string>> withheld;
  client_data data;
  scripting::sequence turns;

 private:
  bool is_for_script(std::string_view message) override {
    return !is_refused && !is_leaving && !home_.carry(*this, message);
  }
  void on_ended(scripting::callback callback, const script::finished& outcome) override {
    home_.on_ended(*this, callback, outcome);
  }
  void on_settled() override { home_.on_settled(*this); }

  shard_script& home_;
};

}  // namespace strata::runtime::server
