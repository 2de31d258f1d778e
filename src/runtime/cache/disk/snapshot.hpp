// All databases as they are at one moment, written bit by bit while commands continue: a key that a
// command is about to change is written first, and keys created since the moment are left out. Each
// entry has a mark that shows whether it has been written; beginning a snapshot inverts all marks
// at once, by changing the meaning of the mark.
//
// No I/O: the caller takes the bytes.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "loop/timer.hpp"
#include "runtime/cache/disk/rdb_file.hpp"
#include "runtime/cache/engine/change_guard.hpp"
#include "runtime/cache/engine/keyspace.hpp"
#include "runtime/cache/values/database.hpp"

namespace strata::runtime::cache {

class snapshot final : private change_guard {
 public:
  /// Begins a snapshot of `keyspace`, which must have no other; `is_log_base`: commands will follow
  /// in the file. Unless it `may_have_field_times`, its reader cannot read the times at which
  /// fields of hashes expire: the snapshot leaves them out.
  snapshot(keyspace& keyspace, bool is_log_base, bool may_have_field_times = true);
  ~snapshot();
  snapshot(const snapshot&) = delete;
  snapshot& operator=(const snapshot&) = delete;

  /// Continues writing for about that long. Returns false when everything is written.
  bool step(loop::duration budget);
  [[nodiscard]] bool is_done() const { return done_; }
  /// Returns bytes of the file, in order; call it until the snapshot is done and nothing is left.
  [[nodiscard]] std::string take() { return file_.take(); }
  [[nodiscard]] std::size_t blocked() const { return file_.size(); }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }

 private:
  void before_command(unsigned database, const command& command,
                      std::span<const std::string_view> words) override;
  void before_change(unsigned database, std::string_view key) override;
  /// Takes over the database's contents, to continue with them.
  void before_clear(unsigned database) override;
  void on_swap(unsigned first, unsigned second) override;

  struct part {
    database* from;
    unsigned number;  // under which the database is written
    std::uint64_t cursor = 0;
    bool done = false;
  };

  bool step_part(part& part);
  void put(entry& entry, unsigned number);
  void finish();

  keyspace& of_;
  rdb::file_writer file_;
  std::vector<part> parts_;  // the engine's databases, in order; then those taken over
  std::deque<database> taken_over_;
  std::vector<std::size_t> key_positions_;
  std::vector<entry*> found_;
  int written_database_ = -1;
  std::uint64_t keys_ = 0;
  bool done_ = false;
};

}  // namespace strata::runtime::cache
