// What clients of a server say to the cache of `--cache`, in messages such as `cache get k`.
//
// For the loop of the clients' shard.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "loop/task_group.hpp"
#include "runtime/scripting/script_connection.hpp"
#include "runtime/server/member.hpp"

namespace strata::runtime::server {

class shard;

class cache_links {
 public:
  /// `shard` outlives it.
  explicit cache_links(shard& shard) : home_(shard) {}

  /// Returns false if the message is none for the cache. The client gets the reply as plain lines.
  [[nodiscard]] bool take(member& member, std::string_view message);
  /// Ends the connection of a client that has left.
  void leave(std::uint64_t id);

 private:
  /// A client's connection to the cache: transactions and the chosen database are its own.
  struct link {
    std::shared_ptr<scripting::script_connection> connection;
    std::deque<std::string> waiting;  ///< commands until the connection is open
    bool is_open = false;
  };

  loop::task<> serve(std::uint64_t id, std::shared_ptr<link> link);
  void pass(std::uint64_t id, link& link, const std::string& command);
  [[nodiscard]] std::shared_ptr<link> open(std::uint64_t id);

  shard& home_;
  std::map<std::uint64_t, std::shared_ptr<link>> links_;
  loop::task_group serving_;
};

}  // namespace strata::runtime::server
