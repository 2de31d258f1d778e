// Where the daemon keeps what it shall run: one record for each runtime. Files hold them
// (file_record_store.hpp); a store that a cluster shares is another implementation.
//
// Ownership: the supervisor owns its store. A task keeps what it was given; the store must outlive
// its tasks. One that is destroyed before its end leaves the change either done or not done.
// Thread: the home loop calls all members and gets all answers. Nothing here may make it wait.
// Order: changes of one name are done in the order in which they were awaited. Those of different
// names may be done side by side.
#pragma once

#include <functional>
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

  bool operator==(const record&) const = default;
};

class record_store {
 public:
  record_store() = default;
  record_store(const record_store&) = delete;
  record_store& operator=(const record_store&) = delete;
  virtual ~record_store() = default;

  /// All records, by name. One that is damaged is left out, and `on_damaged` is called with a
  /// sentence about it. Errors: the store as a whole, or a record in it, cannot be read now.
  [[nodiscard]] virtual loop::task<result<std::vector<record>>> load(
      std::function<void(std::string)> on_damaged) = 0;
  /// Adds a record, or replaces the one of its name. Ends when no crash can lose it any more.
  /// Errors: no_space, …; the store then has the old record or the new one, and no part of one.
  [[nodiscard]] virtual loop::task<result<void>> put(record record) = 0;
  /// Ends when no crash can bring the record back. It is no error when there is none.
  [[nodiscard]] virtual loop::task<result<void>> remove(std::string name) = 0;

  /// Where the records are, for messages.
  [[nodiscard]] virtual const std::string& place() const = 0;
};

/// [a-zA-Z0-9_.-]{1,64}, and neither a dot nor a dash first: those are other things to shells, to
/// the command line and in paths.
[[nodiscard]] bool is_valid_name(std::string_view name);

}  // namespace strata::daemon
