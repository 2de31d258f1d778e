// The commands' interface to the persistence of the data on the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace strata::runtime::cache {

class client;

struct persistence_figures {
  bool is_saving = false;
  bool is_rewriting = false;
  bool has_log = false;
  bool last_save_failed = false;
  bool last_rewrite_failed = false;
  bool log_fails = false;
  bool is_log_syncing = false;
  std::uint64_t saves = 0;
  std::uint64_t rewrites = 0;
  std::uint64_t changes_at_save = 0;
  std::int64_t writing_began_ms = 0;  ///< of what is being written
  bool is_rewrite_scheduled = false;  ///< after the snapshot that is being written
  std::int64_t last_save_s = 0;
  std::int64_t last_save_took_s = -1;
  std::int64_t last_rewrite_took_s = -1;
  std::uint64_t keys_loaded = 0;
  std::uint64_t log_size = 0;
  std::uint64_t log_base_size = 0;
  std::uint64_t log_waiting = 0;
  std::uint64_t slow_calls = 0;  ///< writes and syncs of the log that took long
  // Positions in the log, in bytes since it was opened.
  std::uint64_t log_appended = 0;
  std::uint64_t log_synced = 0;
};

class persistence {
 public:
  /// Begins to write a snapshot; if `later`, waits for anything that is being written now. Reports
  /// the outcome to `waits`, if not null. Returns an error reply if nothing was begun.
  virtual std::optional<std::string> save(bool later, client* waits) = 0;
  /// Begins to rewrite the log, now or after anything that is being written. Returns the reply; an
  /// error begins with its code.
  virtual std::string rewrite() = 0;
  /// Ends the cache, after saving if `saves` (if that is not set, if there are save rules). Returns
  /// an error reply if it does not. If saving fails, the cache continues and `asking` gets an
  /// error, unless the end `is_forced`.
  virtual std::optional<std::string> shut_down(std::optional<bool> saves, bool is_forced,
                                               client& asking) = 0;
  [[nodiscard]] virtual persistence_figures figures() const = 0;

 protected:
  ~persistence() = default;
};

}  // namespace strata::runtime::cache
