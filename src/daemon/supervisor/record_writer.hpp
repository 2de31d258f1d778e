// Writes the records of entries into the store. On the home loop.
//
// A write without an answer may have succeeded: the next write of the same record asks the store
// first. The caller of a member with an entry holds the entry's lock, except for `write_later`.
#pragma once

#include <memory>

#include "daemon/store/record_store.hpp"
#include "daemon/supervisor/entry.hpp"
#include "daemon/supervisor/operation_count.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"

namespace strata::daemon {

class record_writer {
 public:
  /// `operations` outlives this object. `pause_seed` makes the pauses between attempts reproducible
  /// for tests; 0: random.
  record_writer(loop::loop& loop, std::unique_ptr<record_store> store, operation_count& operations,
                std::uint64_t pause_seed);

  /// Writes a record, unless the store has it already; then it is `desired`. Errors: those of the
  /// store; conflict if another writer has changed the record.
  loop::task<result<void>> write(entry_ref subject, record next);
  /// Writes the entry's present state, now or as soon as the store takes it.
  loop::task<> write_in_time(entry_ref subject);
  void write_later(const entry_ref& subject);
  /// Records that a runtime that could not be started is not to run.
  loop::task<> write_back(entry_ref subject);
  /// Removes the record. Errors: as for `write`.
  loop::task<result<void>> remove(entry_ref subject);

  /// From now on nothing is written later, and the store is closed.
  void end();
  [[nodiscard]] record_store& store() { return *store_; }
  [[nodiscard]] const record_store& store() const { return *store_; }

 private:
  /// Finds out the result of a write that had no answer. Errors: the store cannot be read; conflict
  /// if another writer has changed the record.
  loop::task<result<void>> settle_attempt(entry_ref subject);
  loop::task<> write_again(entry_ref subject);

  loop::loop& home_;
  std::unique_ptr<record_store> store_;
  operation_count& operations_;
  const std::uint64_t pause_seed_;
  bool is_ended_ = false;
  loop::task_group tasks_;
};

}  // namespace strata::daemon
