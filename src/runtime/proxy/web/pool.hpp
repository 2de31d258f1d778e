// Connections to backends that are kept for later HTTP requests: idle ones, and with HTTP/2 also
// busy ones. A connection that its backend has closed is noticed at once, not by the next request.
//
// For one loop's thread.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "http/http2/http2_client.hpp"
#include "loop/task_group.hpp"
#include "runtime/proxy/choice/backend.hpp"

namespace strata::runtime::proxy {

/// An idle connection.
struct pooled {
  std::shared_ptr<backend> to;
  std::string preface;  ///< sent on it before all requests
  std::unique_ptr<http::inquiry> over;
};

class pool {
 public:
  /// Takes the most recently used connection to `backend` that began with `preface`: rarely needed
  /// ones thus expire. Null if there is none.
  [[nodiscard]] std::unique_ptr<http::inquiry> take(const backend& backend,
                                                    std::string_view preface);
  /// Keeps one until `limit`; at most `most` per backend, of which the most recently used stay.
  void give(pooled unused, loop::time_point limit, std::size_t most);
  /// Returns a request on an HTTP/2 connection to `backend` that began with `preface`. Null if none
  /// takes more.
  [[nodiscard]] std::unique_ptr<http::inquiry> share(const backend& backend,
                                                     std::string_view preface);
  /// Keeps one until it ends, for concurrent requests.
  void keep(const std::shared_ptr<backend>& of, std::string preface,
            std::shared_ptr<http::http2_client> backend);
  /// Ends the connections to that backend.
  void forget(const backend& backend);
  /// Ends the connections to backends that are not among these.
  void retain(const std::vector<std::shared_ptr<backend>>& used);
  [[nodiscard]] std::size_t size() const;

 private:
  struct idle {
    pooled is;
    loop::task_group watching;
  };
  using shelf = std::list<idle>;
  struct shared {
    std::shared_ptr<backend> to;
    std::string preface;
    std::shared_ptr<http::http2_client> over;
  };
  loop::task<> watch(shelf::iterator iterator, loop::time_point limit);

  std::unordered_map<const backend*, shelf> idle_;  // per backend, the most recently used first
  shelf ended_;  // ended by themselves: removed at the next `give`
  std::vector<shared> shared_;
};

}  // namespace strata::runtime::proxy
