// The backends that texts lead to. Most texts lead to one. `@GROUP` leads to each runtime of the
// group that runs and listens, and a host's name to each of its addresses: both are followed as
// that changes, the one each second, the other as its records live (RFC 1035, TTL). What cannot be
// looked up stays as it was.
//
// For one loop's thread. One of a proxy's loops looks names up and tells the others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "net/directory.hpp"
#include "runtime/proxy/choice/backend.hpp"
#include "runtime/proxy/choice/shared_view.hpp"

namespace strata::runtime::proxy {

class roster {
 public:
  struct means {
    loop::loop& home;
    net::directory& names;
    std::string self;        ///< the proxy's own name, which is no backend of it
    std::size_t number = 0;  ///< of the loop: the first one looks names up
    shared_view& shared;
    std::string route;  ///< what the texts are of
    /// A name cannot be looked up any more; called once until it can be.
    std::function<void(const backend_text&, const error&)> on_trouble;
    /// A runtime of that group leads back to the proxy, and is none of its backends; called once
    /// until it does not.
    std::function<void(const backend_text&, const std::string& runtime)> on_circle;
    /// What `all` gives is something else now.
    std::function<void()> on_change;
  };
  explicit roster(means means) : means_(std::move(means)), looked_(means_.home) {}

  /// Follows names from now on.
  void begin();
  /// The loop that looks names up has done so.
  void refresh();
  /// From now on these; what is known of one that stays is kept. The texts parse. No `on_change` is
  /// called for it.
  void become(const std::vector<std::string>& texts);
  [[nodiscard]] std::vector<backend_text> all() const;
  /// Texts that lead to none now.
  [[nodiscard]] std::vector<backend_text> unknown() const;
  /// A name has not been looked up yet: there may be more.
  [[nodiscard]] bool is_looking() const;
  /// Awaits that none is, until `limit` at the longest.
  [[nodiscard]] loop::task<> looked(loop::time_point limit);

 private:
  /// What stands for a name, and how long that is good for.
  struct look {
    std::vector<sighting> found;
    std::vector<std::string> circular;
    loop::duration good_for;
  };
  struct entry {
    explicit entry(backend_text text) : is(std::move(text)) {}
    backend_text is;
    std::vector<sighting> found;
    std::vector<std::string> circular;
    bool was_looked_up = false;
    bool is_lost = false;
    loop::task_group following;
  };
  [[nodiscard]] bool leads() const { return means_.number == 0; }
  [[nodiscard]] std::string key_of(const entry& entry) const;
  void follow_new_ones();
  /// Takes what the loop that leads has found; says whether that is news.
  bool take_found();
  loop::task<> follow(entry& entry);
  loop::task<result<look>> look_up(const backend_text& text);

  means means_;
  bool has_begun_ = false;
  std::vector<std::unique_ptr<entry>> entries_;
  loop::condition looked_;
};

}  // namespace strata::runtime::proxy
