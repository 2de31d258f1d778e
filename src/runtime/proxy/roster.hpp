// The backs that texts lead to. Most texts lead to one. `@GROUP` leads to each runtime of the group
// that runs and listens, and a host's name to each of its addresses: both are followed as that
// changes, the one each second, the other as its records live (RFC 1035, TTL). What cannot be
// looked up stays as it was.
//
// For one loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "net/directory.hpp"
#include "runtime/proxy/back.hpp"

namespace strata::runtime::proxy {

class roster {
 public:
  struct means {
    loop::loop& home;
    net::directory& names;
    std::string self;  ///< the proxy's own name, which is no back of it
    /// A name cannot be looked up any more; called once until it can be.
    std::function<void(const back_text&, const error&)> on_trouble;
    /// What `all` gives is something else now.
    std::function<void()> on_change;
  };
  explicit roster(means with) : means_(std::move(with)), looked_(means_.home) {}

  /// From now on these; what is known of one that stays is kept. The texts parse. No `on_change` is
  /// called for it.
  void become(const std::vector<std::string>& texts);
  [[nodiscard]] std::vector<back_text> all() const;
  /// A name has not been looked up yet: there may be more.
  [[nodiscard]] bool is_looking() const;
  /// Awaits that none is, until `limit` at the longest.
  [[nodiscard]] loop::task<> looked(loop::time_point limit);

 private:
  /// What stands for a name, and how long that is good for.
  struct sighting {
    std::vector<back_text> backs;
    loop::duration good_for;
  };
  struct entry {
    explicit entry(back_text of) : is(std::move(of)) {}
    back_text is;
    std::vector<back_text> found;
    bool was_looked_up = false;
    bool is_lost = false;
    loop::task_group following;
  };
  loop::task<> follow(entry& which);
  loop::task<result<sighting>> look_up(const back_text& of);

  means means_;
  std::vector<std::unique_ptr<entry>> entries_;
  loop::condition looked_;
};

}  // namespace strata::runtime::proxy
