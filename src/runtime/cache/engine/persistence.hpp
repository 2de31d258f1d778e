// What commands ask of whoever keeps the data on the disk.
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
  std::uint64_t saves = 0;
  std::uint64_t rewrites = 0;
  std::uint64_t changes_at_save = 0;
  std::int64_t last_save_s = 0;
  std::int64_t last_save_took_s = -1;
  std::int64_t last_rewrite_took_s = -1;
  std::uint64_t keys_loaded = 0;
  std::uint64_t log_size = 0;
  std::uint64_t log_base_size = 0;
  std::uint64_t log_waiting = 0;
};

class persistence {
 public:
  /// Begins to write a snapshot; `later`: when what is being written now is done, if something is.
  /// `waits`, if not null, is told the outcome. Returns an error reply when nothing was begun.
  virtual std::optional<std::string> save(bool later, client* waits) = 0;
  /// Begins to rewrite the log, now or when something else has been written. Returns what to
  /// reply; an error begins with its code.
  virtual std::string rewrite() = 0;
  /// Ends the cache, after saving if `saves` (or, if that is not said, if there are rules for it).
  /// Returns an error reply when it does not. If it cannot save, the cache goes on and `asking`
  /// gets an error, unless the end `is_forced`.
  virtual std::optional<std::string> shut_down(std::optional<bool> saves, bool is_forced,
                                               client& asking) = 0;
  [[nodiscard]] virtual persistence_figures figures() const = 0;

 protected:
  ~persistence() = default;
};

}  // namespace strata::runtime::cache
