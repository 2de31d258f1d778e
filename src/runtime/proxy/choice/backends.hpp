// The backends of a proxy, or of one of its routes: what is there to choose from, and the queue of
// those who find all of them full.
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

/// What the backends of a gate share. All of it outlives them.
struct backend_means {
  loop::loop& home;
  const proxy_options& options;
  std::size_t number = 0;  ///< of the loop
  shared_view& shared;     ///< with the other loops
  proxy_figures& counted;
  net::directory& names;
  std::string self;  ///< the proxy's name
  /// Tells people of a change of a backend.
  std::function<void(level, std::string_view event, const std::string& text)> tell;
  /// There are others now, though nobody has edited them.
  std::function<void()> on_change;
};

class backends {
 public:
  /// `route`: its text; empty: those of `--backend`.
  backends(const backend_means& means, std::string route);

  /// Names are followed from now on; to be called on the loop.
  void begin() { roster_.begin(); }
  /// From now on these; one whose place stays keeps what is known of it. The texts parse.
  void become(const std::vector<std::string>& texts);

  [[nodiscard]] const std::vector<backend_ref>& all() const { return all_; }
  [[nodiscard]] const backend_means& means() const { return means_; }
  /// Names that lead to none yet.
  [[nodiscard]] std::vector<backend_text> unknown() const { return roster_.unknown(); }
  /// Other loops have looked names up, or have left places.
  void take_names() { roster_.refresh(); }
  void call() { line_.call(); }
  /// Awaits a place at the next one: at once, or in the queue while all are full. Errors: not_found
  /// where all were tried; limit_exceeded where the queue is full too, or no place has become free
  /// in time; canceled where the client has left the queue.
  [[nodiscard]] loop::task<result<backend_use>> enter(wish wish);

 private:
  /// Those that the roster has now.
  void take();
  /// A use of the next one, or why there is none.
  struct try_now {
    std::optional<backend_use> use;
    bool are_full = false;
  };
  [[nodiscard]] try_now try_begin(wish& wish);
  /// One that waits tries it: not where there is no place at all, as can be seen at once.
  [[nodiscard]] try_now try_again(wish& wish);
  /// Nullopt: there is none to wait for any more.
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
