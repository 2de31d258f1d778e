// The daemon's runtimes by name: entries, and unusable records. On the home loop.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/supervisor/cluster_view.hpp"
#include "daemon/supervisor/entry.hpp"

namespace strata::daemon {

/// A record from which no runtime can be made.
struct unusable_record {
  std::string type;  ///< empty if unknown
  std::string reason;
  std::uint64_t revision = 0;
};

class entry_list {
 public:
  // --- what is stored
  /// Errors: not_found; conflict if its record is unusable.
  [[nodiscard]] result<entry_ref> find(const std::string& name) const;
  [[nodiscard]] std::vector<entry_ref> all() const;
  /// The names of all, unusable records included.
  [[nodiscard]] std::vector<std::string> known_names() const;
  /// Whether there is a runtime of that name here or, in a cluster, on another daemon.
  [[nodiscard]] bool is_known(const std::string& name) const;
  /// `cluster` outlives this object's use.
  void join(const cluster_view& cluster) { cluster_ = &cluster; }
  [[nodiscard]] std::vector<std::string> children(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, unusable_record>& unusable() const { return unusable_; }

  // --- also what is being created
  [[nodiscard]] const entry_map& entries() const { return entries_; }
  /// Null if there is none.
  [[nodiscard]] entry_ref entry_of(const std::string& name) const;

  void add(const entry_ref& added) { entries_[added->name()] = added; }
  void erase(const std::string& name) { entries_.erase(name); }
  void add_unusable(const std::string& name, unusable_record kept) {
    unusable_[name] = std::move(kept);
  }
  void erase_unusable(const std::string& name) { unusable_.erase(name); }

 private:
  entry_map entries_;
  std::map<std::string, unusable_record> unusable_;
  const cluster_view* cluster_ = nullptr;  // null: the daemon is in none
};

}  // namespace strata::daemon
