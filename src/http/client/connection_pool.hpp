// Connections to servers that are kept for later HTTP requests: idle ones, and with HTTP/2 also
// busy ones. A connection that its server has closed is noticed at once, not by the next request.
//
// A server is any object of the caller, compared by its address. The pool shares ownership of a
// server while it keeps a connection to it.
//
// For one loop's thread.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "http/client/http2_client.hpp"
#include "loop/task_group.hpp"

namespace strata::http {

/// An idle connection.
struct idle_connection {
  std::shared_ptr<const void> server;
  std::string preface;  ///< sent on it before all requests
  std::unique_ptr<inquiry> connection;
};

class connection_pool {
 public:
  /// Takes the most recently used connection to `server` that began with `preface`: rarely needed
  /// ones thus expire. Null if there is none.
  [[nodiscard]] std::unique_ptr<inquiry> take(const void* server, std::string_view preface);
  /// Keeps one until `limit`; at most `most` per server, of which the most recently used stay.
  void give(idle_connection unused, loop::time_point limit, std::size_t most);
  /// Returns a request on an HTTP/2 connection to `server` that began with `preface`. Null if none
  /// takes more.
  [[nodiscard]] std::unique_ptr<inquiry> share(const void* server, std::string_view preface);
  /// Keeps one until it ends, for concurrent requests.
  void keep(std::shared_ptr<const void> server, std::string preface,
            std::shared_ptr<http2_client> client);
  /// Ends the connections to that server.
  void forget(const void* server);
  /// Ends the connections to servers for which `is_used` returns false.
  void retain(const std::function<bool(const void* server)>& is_used);
  [[nodiscard]] std::size_t size() const;

 private:
  struct watched_connection {
    idle_connection idle;
    loop::task_group watching;
  };
  using shelf = std::list<watched_connection>;
  struct shared_connection {
    std::shared_ptr<const void> server;
    std::string preface;
    std::shared_ptr<http2_client> client;
  };
  loop::task<> watch(shelf::iterator connection, loop::time_point limit);

  std::unordered_map<const void*, shelf> idle_;  // per server, the most recently used first
  shelf ended_;                                  // ended by themselves: removed at the next `give`
  std::vector<shared_connection> shared_;
};

}  // namespace strata::http
