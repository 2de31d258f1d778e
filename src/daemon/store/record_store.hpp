// Where the daemon keeps what it is to run: one record for each runtime. Files hold them
// (file_record_store.hpp); a store shared by a cluster would be another implementation.
//
// Revisions: each change of a record has a revision, a number above that of every earlier change in
// this store. A writer names the revision that it knows, so that of two writers one is refused.
//
// Ownership: the supervisor owns its store. A task keeps its arguments; the store must outlive its
// tasks. A task that is destroyed before its end leaves the change either done or not done. Thread:
// the home loop calls all members and gets all answers. No member may block it. Order: changes of
// one name are made in the order in which they were awaited. Those of different names may be made
// concurrently.
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

/// The desired state of a runtime.
struct record {
  std::string name;
  std::string type;
  std::string created_at;
  bool running = false;  ///< started with the daemon
  std::string options;   ///< a JSON object, secrets included
  /// Why it cannot be used, for example if another version of strata made it: then only the name is
  /// set.
  std::string unusable = {};
  /// The runtime whose script created it; empty: a user did.
  std::string origin = {};
  std::uint64_t revision = 0;  ///< of its last change; 0: it is in no store yet

  bool operator==(const record&) const = default;
  /// Whether the two differ in nothing but the revision.
  [[nodiscard]] bool has_content_of(record other) const {
    other.revision = revision;
    return *this == other;
  }
};

/// All records at one moment.
struct record_list {
  std::vector<record> records;  ///< by name
  std::uint64_t revision = 0;   ///< of the latest change of any record
};

struct record_changes {
  /// Names of records that may have been changed or removed; a name may occur more than once.
  /// Empty: the store has been closed.
  std::vector<std::string> names;
  std::uint64_t revision = 0;  ///< all changes up to it have been named
};

class record_store {
 public:
  record_store() = default;
  record_store(const record_store&) = delete;
  record_store& operator=(const record_store&) = delete;
  virtual ~record_store() = default;

  /// Returns all records; call it first. A damaged one is left out, and `on_damaged` gets a
  /// sentence about it. Errors: the store as a whole, or a record in it, cannot be read now.
  [[nodiscard]] virtual loop::task<result<record_list>> load(
      std::function<void(std::string)> on_damaged) = 0;
  /// Returns the record of that name, if there is one. Errors: as `load`.
  [[nodiscard]] virtual loop::task<result<std::optional<record>>> find(std::string name) = 0;
  /// Adds a record, or replaces the one of its name, whose revision must be `expected`; 0: there is
  /// none. Ends when no crash can lose the record any more, and returns its revision. Errors:
  /// conflict if the revision is another (`stale_revision`); no_space, …: the store then has the
  /// old record or the new one, never a part of one.
  [[nodiscard]] virtual loop::task<result<std::uint64_t>> put(record record,
                                                              std::uint64_t expected) = 0;
  /// Ends when no crash can bring the record back. A missing record is no error. Errors: as `put`.
  [[nodiscard]] virtual loop::task<result<void>> remove(std::string name,
                                                        std::uint64_t expected) = 0;
  /// Waits for changes after the revision `last`, from any writer. The names are hints: `find`
  /// returns the actual state. Errors: not_found if the store no longer knows what has changed
  /// since: load again.
  [[nodiscard]] virtual loop::task<result<record_changes>> watch(std::uint64_t last) = 0;
  /// Ends `watch`, now and for ever.
  virtual void close() = 0;

  /// Where the records are, for messages.
  [[nodiscard]] virtual const std::string& place() const = 0;
};

/// Whether the name matches [a-zA-Z0-9_.-]{1,64}, with neither a dot nor a dash first: those have
/// other meanings in shells, on the command line and in paths.
[[nodiscard]] bool is_valid_name(std::string_view name);

/// The error of a change that expects a revision that the record does not have.
[[nodiscard]] std::unexpected<error> stale_revision(const std::string& name, std::uint64_t expected,
                                                    std::uint64_t present);

}  // namespace strata::daemon
