// The backs of a proxy, or of one of its routes: what is there to choose from, and the queue of
// those who find all of them full.
//
// For one loop's thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/task.hpp"
#include "runtime/journal.hpp"
#include "runtime/proxy/choosing.hpp"
#include "runtime/proxy/figures.hpp"
#include "runtime/proxy/loop_share.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/proxy/roster.hpp"
#include "runtime/proxy/waiting_line.hpp"

namespace strata::runtime::proxy {

/// What the backs of a gate share. All of it outlives them.
struct back_means {
  loop::loop& home;
  const proxy_options& options;
  loop_share share;
  proxy_figures& counted;
  net::directory& names;
  std::string self;  ///< the proxy's name
  /// Tells people of a change of a back.
  std::function<void(level, std::string_view event, const std::string& text)> tell;
  /// There are others now, though nobody has edited them.
  std::function<void()> on_change;
};

class backs {
 public:
  explicit backs(const back_means& with);

  /// From now on these; one whose place stays keeps what is known of it. The texts parse.
  void become(const std::vector<std::string>& texts);

  [[nodiscard]] const std::vector<back_ref>& all() const { return all_; }
  [[nodiscard]] const back_means& means() const { return means_; }
  /// Awaits a place at the next one: at once, or in the queue while all are full. Errors: not_found
  /// where all were tried; limit_exceeded where the queue is full too, or no place has become free
  /// in time; canceled where the client has left the queue.
  [[nodiscard]] loop::task<result<back_use>> enter(wish what);

 private:
  /// Those that the roster has now.
  void take();
  /// There is a place now, or none to wait for.
  [[nodiscard]] bool may_go(const wish& what) const;
  [[nodiscard]] bool is_queue_full() const;
  [[nodiscard]] loop::task<result<void>> wait_for_place(wish what);
  [[nodiscard]] circuit_rules rules() const;
  void note(back& of, const circuit::attempt& how, bool is_good);
  void note_panic(bool is_now);
  /// A use of the next one begins.
  [[nodiscard]] back_use begin(const candidates& of, const wish& what);

  back_means means_;
  std::vector<back_ref> all_;
  roster roster_;
  bool has_begun_ = false;
  bool is_panicking_ = false;
  waiting_line line_;
};

}  // namespace strata::runtime::proxy
