// Connections to backs that are kept for the next HTTP request: those that carry none now, and by
// HTTP/2 those that carry others. One that its back has closed is noticed at once, and not by the
// request that would have used it.
//
// For one loop's thread.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/http2_client.hpp"
#include "loop/task_group.hpp"
#include "runtime/proxy/back.hpp"

namespace strata::runtime::proxy {

/// A connection that is free.
struct pooled {
  std::shared_ptr<back> to;
  std::string preface;  ///< what was said on it before all requests
  std::unique_ptr<http::inquiry> over;
};

class pool {
 public:
  /// A connection to `of` that began with `preface`, the one used last: those that are needed
  /// seldom end by themselves. Null: there is none.
  [[nodiscard]] std::unique_ptr<http::inquiry> take(const back& of, std::string_view preface);
  /// Keeps one until `limit`; no more than `most` to one back, of which those used last stay.
  void give(pooled unused, loop::time_point limit, std::size_t most);
  /// A request on a connection to `of` by HTTP/2 that began with `preface`. Null: none takes more.
  [[nodiscard]] std::unique_ptr<http::inquiry> share(const back& of, std::string_view preface);
  /// Keeps one until it ends, for requests side by side.
  void keep(const std::shared_ptr<back>& of, std::string preface,
            std::shared_ptr<http::http2_client> over);
  /// Ends those to that back.
  void forget(const back& of);
  /// Ends those to backs that are not among these.
  void retain(const std::vector<std::shared_ptr<back>>& used);
  [[nodiscard]] std::size_t size() const { return idle_.size() + shared_.size(); }

 private:
  struct idle {
    pooled is;  // its connection is null once it has ended
    loop::task_group watching;
  };
  struct shared {
    std::shared_ptr<back> to;
    std::string preface;
    std::shared_ptr<http::http2_client> over;
  };
  static loop::task<> watch(idle& of, loop::time_point limit);
  void sweep();

  std::list<idle> idle_;  // the one used last comes first
  std::vector<shared> shared_;
};

}  // namespace strata::runtime::proxy
