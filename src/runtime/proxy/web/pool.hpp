// Connections to backends that are kept for the next HTTP request: those that carry none now, and
// by HTTP/2 those that carry others. One that its backend has closed is noticed at once, and not by
// the request that would have used it.
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

/// A connection that is free.
struct pooled {
  std::shared_ptr<backend> to;
  std::string preface;  ///< what was said on it before all requests
  std::unique_ptr<http::inquiry> over;
};

class pool {
 public:
  /// A connection to `backend` that began with `preface`, the one used last: those that are needed
  /// seldom end by themselves. Null: there is none.
  [[nodiscard]] std::unique_ptr<http::inquiry> take(const backend& backend,
                                                    std::string_view preface);
  /// Keeps one until `limit`; no more than `most` to one backend, of which those used last stay.
  void give(pooled unused, loop::time_point limit, std::size_t most);
  /// A request on a connection to `backend` by HTTP/2 that began with `preface`. Null: none takes
  /// more.
  [[nodiscard]] std::unique_ptr<http::inquiry> share(const backend& backend,
                                                     std::string_view preface);
  /// Keeps one until it ends, for requests side by side.
  void keep(const std::shared_ptr<backend>& of, std::string preface,
            std::shared_ptr<http::http2_client> backend);
  /// Ends those to that backend.
  void forget(const backend& backend);
  /// Ends those to backends that are not among these.
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

  std::unordered_map<const backend*, shelf> idle_;  // of each the one used last comes first
  shelf ended_;  // by themselves: swept with the next that is given
  std::vector<shared> shared_;
};

}  // namespace strata::runtime::proxy
