// The backends of a proxy, or of one of its routes: the candidates, and the queue of clients that
// wait while all are full.
//
// For one loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/task.hpp"
#include "runtime/journal.hpp"
#include "runtime/proxy/choice/choosing.hpp"
#include "runtime/proxy/choice/figures.hpp"
#include "runtime/proxy/choice/roster.hpp"
#include "runtime/proxy/choice/shared_view.hpp"
#include "runtime/proxy/choice/waiting_line.hpp"
#include "runtime/proxy/options.hpp"

namespace strata::runtime::proxy {

/// Shared by the backends of a gate. All of it outlives them.
struct backend_means {
  loop::loop& home;
  const proxy_options& options;
  std::size_t number = 0;  ///< the loop's number
  shared_view& shared;     ///< shared with the other loops
  proxy_figures& counted;
  net::directory& names;
  std::string self;  ///< the proxy's name
  /// Reports a change of a backend to the log and as an event.
  std::function<void(level, std::string_view event, const std::string& text)> report;
  /// Called when the backends have changed without an edit.
  std::function<void()> on_change;
};

class backends {
 public:
  /// `route`: the text of the route; empty: the backends of `--backend`.
  backends(const backend_means& means, std::string route);

  /// Follows names from now on; call it on the loop.
  void begin() { roster_.begin(); }
  /// Replaces the backends; one whose place stays keeps its state. The texts parse.
  void become(const std::vector<std::string>& texts);

  [[nodiscard]] const std::vector<backend_ref>& all() const { return all_; }
  [[nodiscard]] const backend_means& means() const { return means_; }
  /// Names without a backend so far.
  [[nodiscard]] std::vector<backend_text> unknown() const { return roster_.unknown(); }
  /// Called when other loops have looked up names, or have freed places.
  void take_names() { roster_.refresh(); }
  void call() { line_.call(); }
  /// Waits for a place at the next backend: at once, or in the queue while all are full. Errors:
  /// not_found if all were tried; limit_exceeded if the queue is full too, or no place has become
  /// free in time; canceled if the client has left the queue.
  [[nodiscard]] loop::task<result<backend_use>> enter(wish wish);

 private:
  /// Takes over the roster's present backends.
  void take();
  /// A use of the next backend, or why there is none.
  struct try_now {
    std::optional<backend_use> use;
    bool are_full = false;
  };
  [[nodiscard]] try_now try_begin(wish& wish);
  /// An attempt of a queued client: skipped if there is clearly no place at all.
  [[nodiscard]] try_now try_again(wish& wish);
  /// Nullopt: there is no backend left to wait for.
  [[nodiscard]] loop::task<result<std::optional<backend_use>>> wait_for_place(wish wish);
  [[nodiscard]] std::shared_ptr<backend> backend_of(backend_text read,
                                                    const std::vector<backend_ref>& others);
  [[nodiscard]] circuit_rules rules() const;
  void note(backend& backend, const circuit::attempt& attempt, bool is_good);
  void note_panic(bool is_now);

  backend_means means_;
  std::string route_;
  std::shared_ptr<route_standing> stands_;
  std::vector<backend_ref> all_;
  roster roster_;
  bool has_begun_ = false;
  waiting_line line_;
};

}  // namespace strata::runtime::proxy
