// The backends behind texts. Most texts lead to one backend. `@GROUP` leads to each runtime of the
// group that runs and listens, and a runtime's name to each of its instances, which the directory
// reports; a host name to each of its addresses, which are looked up again when their records
// expire (RFC 1035, TTL). If a look-up fails, the backends stay as they are.
//
// For one loop's thread. One of a proxy's loops looks names up and passes the results to the
// others.
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
    std::string self;        ///< the proxy's own name, which is not a backend of itself
    std::size_t number = 0;  ///< the loop's number: the first loop looks names up
    shared_view& shared;
    std::string route;  ///< the route of the texts
    /// Called once when a name cannot be looked up any more, until it can be again.
    std::function<void(const backend_text&, const error&)> on_trouble;
    /// Called once when a runtime of that group leads back to the proxy, and so is no backend of
    /// it, until it does not.
    std::function<void(const backend_text&, const std::string& runtime)> on_circle;
    /// Called when the result of `all` has changed.
    std::function<void()> on_change;
  };
  explicit roster(means means) : means_(std::move(means)), looked_(means_.home) {}

  /// Follows names from now on.
  void begin();
  /// Called when the loop that looks names up has new results.
  void refresh();
  /// Replaces the texts; a backend that stays keeps its state. The texts parse. Does not call
  /// `on_change`.
  void become(const std::vector<std::string>& texts);
  [[nodiscard]] std::vector<backend_text> all() const;
  /// Texts without a backend now.
  [[nodiscard]] std::vector<backend_text> unknown() const;
  /// Whether a name has not been looked up yet: there may be more backends.
  [[nodiscard]] bool is_looking() const;
  /// Waits until all names are looked up, until `limit` at most.
  [[nodiscard]] loop::task<> looked(loop::time_point limit);

 private:
  /// The addresses of a host, and how long they are valid.
  struct look {
    std::vector<sighting> found;
    loop::duration good_for;
  };
  struct entry {
    explicit entry(backend_text text) : text(std::move(text)) {}
    backend_text text;
    std::vector<sighting> found;
    std::vector<std::string> circular;
    bool was_looked_up = false;
    bool is_lost = false;
    loop::task_group looking;                        // for a host name
    std::unique_ptr<net::directory::watch> members;  // of a group or runtime
  };
  [[nodiscard]] bool leads() const { return means_.number == 0; }
  [[nodiscard]] std::string key_of(const entry& entry) const;
  void follow_new_ones();
  /// Takes over the results of the loop that looks names up; reports whether they changed anything.
  bool take_found();
  void follow(entry& entry);
  loop::task<> follow_host(entry& entry);
  loop::task<result<look>> look_up(backend_text text);
  void take_members(entry& entry, net::place_members members);
  /// Keeps the result for a text that could not be looked up.
  void take_trouble(entry& entry, const error& why);
  /// Takes over the present result for a text.
  void take_sightings(entry& entry, std::vector<sighting> sightings);
  /// Publishes the result for a text if it is the first one, or has changed.
  void publish(entry& entry, bool has_changed);

  means means_;
  bool has_begun_ = false;
  std::vector<std::unique_ptr<entry>> entries_;
  loop::condition looked_;
};

}  // namespace strata::runtime::proxy
