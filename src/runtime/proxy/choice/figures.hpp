// What a proxy counts, beside what every runtime counts.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/figures.hpp"
#include "runtime/web/web_figures.hpp"

namespace strata::runtime::proxy {

struct proxy_figures : web_figures {
  options::latency latency;
  options::counter retries;
  options::counter denied;
  options::counter limited;
  options::counter log_lines_lost;
  options::counter waiting;      ///< clients and requests, for a backend that is not full
  options::counter turned_away;  ///< that have waited in vain, or found the queue full
};

/// What is counted of one backend, or of one route.
struct branch_figures {
  options::case_counters answers;  ///< by the status's first digit
  options::latency latency;
  options::counter retries;

  /// `us`: what it took, if that says something.
  void count(int status, std::optional<std::uint64_t> us);
};

/// Figures of a branch with its name.
struct branch {
  std::string route;    ///< empty: what no route has taken
  std::string backend;  ///< empty: all of the route
  std::shared_ptr<const branch_figures> counted;
};

/// The branches of a gate, for those who read them on another thread.
class branch_list {
 public:
  void become(std::vector<branch> branches) {
    const std::scoped_lock held(lock_);
    all_ = std::move(branches);
  }
  [[nodiscard]] std::vector<branch> all() const {
    const std::scoped_lock held(lock_);
    return all_;
  }

 private:
  mutable std::mutex lock_;
  std::vector<branch> all_;
};

[[nodiscard]] const std::vector<options::bound_figure<branch_figures>>& backend_table();
[[nodiscard]] const std::vector<options::bound_figure<branch_figures>>& route_table();
/// All of them: those of HTTP first.
[[nodiscard]] const std::vector<options::bound_figure<proxy_figures>>& figure_table();

/// What every runtime has, what those that serve HTTP have, and its own.
[[nodiscard]] const std::vector<options::figure_row>& figure_rows();

/// Those of each backend, and of each route.
[[nodiscard]] std::span<const detail_row> detail_rows();

}  // namespace strata::runtime::proxy
