// Where the daemon keeps what it shall run: one record for each runtime. Files hold them
// (file_record_store.hpp); a store that a cluster shares is another implementation.
//
// Revisions: each change of a record has a revision, a number above that of every change before it
// in this store. Whoever changes a record names the revision that it knows, so that of two writers
// one is refused.
//
// Ownership: the supervisor owns its store. A task keeps what it was given; the store must outlive
// its tasks. One that is destroyed before its end leaves the change either done or not done.
// Thread: the home loop calls all members and gets all answers. Nothing here may make it wait.
// Order: changes of one name are done in the order in which they were awaited. Those of different
// names may be done side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/task.hpp"
#include "strata/base/result.hpp"

namespace strata::daemon {

/// What shall be of a runtime.
struct record {
  std::string name;
  std::string type;
  std::string created_at;
  bool running = false;  ///< start it when the daemon starts
  std::string options;   ///< a JSON object, secrets included
  /// Why it cannot be used, as one of another version of strata: then all but the name is missing.
  std::string unusable = {};
  /// The runtime whose script made it; empty: people did.
  std::string origin = {};
  std::uint64_t revision = 0;  ///< of its last change; 0: it is in no store yet

  bool operator==(const record&) const = default;
  /// Whether nothing but the revision may differ.
  [[nodiscard]] bool has_content_of(record other) const {
    other.revision = revision;
    return *this == other;
  }
};

/// All records at one moment.
struct record_list {
  std::vector<record> records;  ///< by name
  std::uint64_t revision = 0;   ///< of the last change of any of them
};

struct record_changes {
  /// Records that may have changed or gone; one may be named more than once. Empty: the store has
  /// been closed.
  std::vector<std::string> names;
  std::uint64_t revision = 0;  ///< up to which all changes have been named
};

class record_store {
 public:
  record_store() = default;
  record_store(const record_store&) = delete;
  record_store& operator=(const record_store&) = delete;
  virtual ~record_store() = default;

  /// All records; before all else. One that is damaged is left out, and `on_damaged` is called with
  /// a sentence about it. Errors: the store as a whole, or a record in it, cannot be read now.
  [[nodiscard]] virtual loop::task<result<record_list>> load(
      std::function<void(std::string)> on_damaged) = 0;
  /// The record of that name, if there is one. Errors: as `load`.
  [[nodiscard]] virtual loop::task<result<std::optional<record>>> find(std::string name) = 0;
  /// Adds a record, or replaces the one of its name, whose revision must be `expected`; 0: there is
  /// none. Ends when no crash can lose it any more, with its revision. Errors: conflict when the
  /// revision is another (`stale_revision`); no_space, …: the store then has the old record or the
  /// new one, and no part of one.
  [[nodiscard]] virtual loop::task<result<std::uint64_t>> put(record record,
                                                              std::uint64_t expected) = 0;
  /// Ends when no crash can bring the record back. It is no error when there is none. Errors: as
  /// `put`.
  [[nodiscard]] virtual loop::task<result<void>> remove(std::string name,
                                                        std::uint64_t expected) = 0;
  /// Awaits changes after the revision `last`, by whomever. The names are hints: `find` says what
  /// is. Errors: not_found when the store no longer knows what has changed since: load again.
  [[nodiscard]] virtual loop::task<result<record_changes>> watch(std::uint64_t last) = 0;
  /// Ends `watch`, now and for ever.
  virtual void close() = 0;

  /// Where the records are, for messages.
  [[nodiscard]] virtual const std::string& place() const = 0;
};

/// [a-zA-Z0-9_.-]{1,64}, and neither a dot nor a dash first: those are other things to shells, to
/// the command line and in paths.
[[nodiscard]] bool is_valid_name(std::string_view name);

/// The error of a change that expects another revision than the record has.
[[nodiscard]] std::unexpected<error> stale_revision(const std::string& name, std::uint64_t expected,
                                                    std::uint64_t present);

}  // namespace strata::daemon
