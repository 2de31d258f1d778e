// The figures of a proxy, besides those of every runtime.
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
  options::counter waiting;      ///< clients and requests that wait for a backend with room
  options::counter turned_away;  ///< those that timed out in the queue, or found it full
};

/// The figures of one backend, or of one route.
struct branch_figures {
  options::case_counters answers;  ///< by the status's first digit
  options::latency latency;
  options::counter retries;

  /// `us`: the duration, if it is meaningful.
  void count(int status, std::optional<std::uint64_t> us);
};

/// The figures of a branch, with its name.
struct branch {
  std::string route;    ///< empty: requests without a route
  std::string backend;  ///< empty: the whole route
  std::shared_ptr<const branch_figures> counted;
};

/// The branches of a gate, for readers on another thread.
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
/// All figures: those of HTTP first.
[[nodiscard]] const std::vector<options::bound_figure<proxy_figures>>& figure_table();

/// The figures of every runtime, those of HTTP servers, and its own.
[[nodiscard]] const std::vector<options::figure_row>& figure_rows();

/// Figures per backend, and per route.
[[nodiscard]] std::span<const detail_row> detail_rows();

}  // namespace strata::runtime::proxy
