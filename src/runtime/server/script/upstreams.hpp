// The connections that a server makes for its script (--upstream): the script receives their
// messages, and a broken one is made again. For the loop of the server's first shard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "net/endpoint_url.hpp"
#include "proto/framing.hpp"
#include "runtime/scripting/host.hpp"

namespace strata::runtime::server {

class upstreams {
 public:
  struct means {
    proto::framing framing = {};
    std::size_t max_message = 0;
  };

  /// `host` outlives this object.
  upstreams(scripting::host& host, const means& means);
  ~upstreams();

  void begin(std::vector<net::endpoint_url> urls);
  /// Stops all reports to the script.
  void end();

  // --- by their numbers, from 1
  /// The ids of those that are connected.
  [[nodiscard]] std::vector<std::uint64_t> connected() const;
  /// Errors: not_found, connection_closed, and why the message is not taken.
  [[nodiscard]] result<void> send(std::uint64_t id, std::string_view message);

 private:
  struct link;

  loop::task<> follow(link& one);
  loop::task<result<void>> converse(link& one);

  scripting::host& host_;
  means how_;
  std::vector<std::unique_ptr<link>> links_;
  loop::condition settled_;
  loop::task_group tasks_;
};

}  // namespace strata::runtime::server
