// Makes entries of the store's records, and applies what others write into the store. On the home
// loop.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>

#include "daemon/store/record_store.hpp"
#include "daemon/supervisor/entry.hpp"
#include "loop/task_group.hpp"

namespace strata::daemon {

class reconciler;

class store_follower {
 public:
  /// `entries` outlives this object. `pause_seed` makes the pauses between attempts reproducible
  /// for tests; 0: random.
  store_follower(loop::loop& loop, reconciler& entries, std::uint64_t pause_seed)
      : home_(loop), entries_(entries), pause_seed_(pause_seed) {}

  /// Creates the entries of all records, and follows the store from then on. A record from which no
  /// runtime can be made is logged and kept. Call it once. Errors: the store cannot be read.
  loop::task<result<void>> load();

 private:
  loop::task<> follow(std::uint64_t last);
  /// Applies the store's state of all names, since it is not known which have changed. Returns the
  /// revision up to which the state is applied. Errors: the store cannot be read.
  loop::task<result<std::uint64_t>> adopt_all();
  /// Applies the store's state of that name, as it is now or later.
  void look_at(const std::string& name);
  loop::task<> adopt(std::string name);
  /// Errors: it cannot be applied yet.
  loop::task<result<void>> become(entry_ref subject, std::optional<record> next);
  loop::task<> enter(std::string name, std::optional<record> saved);
  /// Errors: why the record cannot be used.
  std::expected<entry_ref, std::string> restore(record saved);
  void keep_unusable(const record& saved, const std::string& reason);

  loop::loop& home_;
  reconciler& entries_;
  const std::uint64_t pause_seed_;
  /// The names that are being adopted, and whether they have changed since the store was asked.
  std::map<std::string, bool> has_news_;
  loop::task_group tasks_;
};

}  // namespace strata::daemon
