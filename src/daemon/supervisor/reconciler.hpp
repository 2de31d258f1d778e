// Makes entries what their records say, and is the only code that changes an entry or its record.
// On the home loop.
//
// A change is written first and then done, so that no crash can lose what was acknowledged; what
// cannot be done is written back. A stop is done first: it must not depend on a disk. What others
// write into the store is done as it comes.
//
// Whoever calls a member with an entry holds its lock, but for `adopt`, `return_later` and
// `hurry_holder`.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/record_store.hpp"
#include "daemon/supervisor/entry_list.hpp"
#include "daemon/supervisor/local_directory.hpp"
#include "daemon/supervisor/operation_count.hpp"
#include "loop/async_lock.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "runtime/house.hpp"
#include "runtime/runtime.hpp"

namespace strata::daemon {

/// How an entry is brought into line with its record.
struct manner {
  bool is_retry = false;        ///< nobody asked: a failure for the same reason is not told again
  bool leaves_failure = false;  ///< the caller decides what follows a failure
};

class reconciler {
 public:
  /// `others` is what scripts of runtimes ask; all but the store outlive this. `pause_seed` makes
  /// the pauses between restarts those of a test; 0: by chance.
  reconciler(loop::loop& loop, runtime::loop_source& loops, std::unique_ptr<record_store> store,
             runtime::house& others, std::uint64_t pause_seed);

  // --- the store
  /// Makes the entries of all records; before all else. What cannot be made is logged, and its
  /// record stays. Errors: the store cannot be read.
  loop::task<result<void>> load();
  /// Removes the record of which no runtime could be made.
  loop::task<result<void>> remove_unusable(std::string name);

  // --- one entry
  /// A body by these options, which nobody sees. Errors: they are wrong.
  result<std::unique_ptr<runtime::runtime>> make_body(const entry& subject,
                                                      const nlohmann::json& options);
  /// Makes an entry with its body, which is not in the list. Errors: its options are wrong.
  result<entry_ref> make_entry(record record, const nlohmann::json& options);
  /// Writes the record of an entry that is new in the list, and does what it says; nobody sees the
  /// entry before. Errors: it cannot be written, or does not start: then nothing of it is left.
  loop::task<result<void>> create(entry_ref subject, bool is_started);
  /// Errors: those of `runtime::edit` and of the store; then nothing has changed.
  loop::task<result<runtime::edit_outcome>> change(entry_ref subject, nlohmann::json changes);
  loop::task<result<void>> start(entry_ref subject);
  /// Errors: what it would lose cannot be saved, and it runs on; or it has stopped, and that cannot
  /// be written yet.
  loop::task<result<void>> stop(entry_ref subject, loop::time_point limit);
  loop::task<result<void>> restart(entry_ref subject, loop::time_point limit);
  loop::task<result<void>> remove(entry_ref subject, loop::time_point limit);
  /// Stops it for the rest of the daemon's life. Its record stays.
  loop::task<> halt(entry_ref subject, loop::time_point limit);
  /// Does what the record says and is not so yet.
  loop::task<result<void>> reconcile(entry_ref subject, manner conduct);
  /// Starts one that has failed again, later, as often as its options say.
  void return_later(const entry_ref& subject);

  /// Has the holder of the lock give up what it waits for: at once if that is a start, else at
  /// `limit`.
  void hurry_holder(const entry_ref& subject, loop::time_point limit);
  static void hurry(entry& subject);
  /// From now on nothing is started, and what others write is not done any more.
  void begin_end();
  [[nodiscard]] bool is_ending() const { return is_ending_; }

  void tell(const entry& subject, std::string_view event, const std::string& detail = {});

  [[nodiscard]] entry_list& list() { return list_; }
  [[nodiscard]] const entry_list& list() const { return list_; }
  [[nodiscard]] local_directory& directory() { return directory_; }
  [[nodiscard]] runtime::journal& events() { return events_; }
  [[nodiscard]] operation_count& operations() { return operations_; }
  [[nodiscard]] const std::string& place() const { return store_->place(); }

 private:
  // --- records
  /// What is to be written of an entry: its options are those of its body, which may have changed
  /// some by itself.
  [[nodiscard]] static record record_of(const entry& subject);
  /// Writes a record, unless the store has it; then it is `desired`.
  loop::task<result<void>> write(entry_ref subject, record next);
  /// Learns from the store what has become of a write that had no answer. Errors: the store cannot
  /// be read; conflict when another has written.
  loop::task<result<void>> settle_attempt(entry_ref subject);
  /// Writes what the entry has come to, now or as soon as the store takes it.
  loop::task<> write_in_time(entry_ref subject);
  void write_later(const entry_ref& subject);
  loop::task<> write_again(entry_ref subject);
  /// What could not be started is no longer to run.
  loop::task<> write_back(entry_ref subject);

  // --- what others write
  loop::task<> follow_store(std::uint64_t last);
  /// Does what the store says of all names, since nobody knows which have changed. Gives the
  /// revision up to which that is so. Errors: the store cannot be read.
  loop::task<result<std::uint64_t>> adopt_all();
  /// Does what the store says of that name.
  loop::task<> adopt(std::string name);
  /// Errors: it cannot be done yet.
  loop::task<result<void>> become(entry_ref subject, std::optional<record> next);
  void take_over(entry& subject, record next);
  loop::task<> enter(std::string name, std::optional<record> saved);
  /// Errors: why it cannot be used.
  std::expected<entry_ref, std::string> restore(record saved);
  void keep_unusable(const record& saved, const std::string& reason);

  // --- bodies
  loop::task<result<runtime::edit_outcome>> apply_options(entry_ref subject);
  loop::task<result<void>> start_body(entry_ref subject, manner conduct);
  loop::task<result<void>> start_with_edits(entry_ref subject);
  void set_failed(entry& subject, const error& why, bool is_retry);
  /// Ends what runs; it is `stopping` meanwhile.
  loop::task<> end_body(entry_ref subject, loop::time_point limit);
  /// Has one that runs save what its end would lose, unless `limit` has passed. Errors: it could
  /// not, and runs on.
  loop::task<result<void>> save_data(entry_ref subject, std::string operation,
                                     loop::time_point limit);
  /// Ends the body, and tells that it has stopped.
  loop::task<> stop_body(entry_ref subject, loop::time_point limit);
  /// Takes an entry whose record is gone from the list.
  loop::task<> drop(entry_ref subject, loop::time_point limit);
  /// Does to the children what is to be done when their owner `text` has stopped, or is gone.
  loop::task<> end_children(std::string text, std::vector<entry_ref> children, bool is_gone);
  loop::task<> end_failed(entry_ref subject);
  loop::task<> come_back(entry_ref subject);
  [[nodiscard]] bool comes_back(const entry& subject) const;
  [[nodiscard]] static bool has_tries_left(const entry& subject);
  loop::task<> hurry_at(entry_ref subject, loop::time_point limit);
  /// From any thread.
  void write_event(const std::string& name, std::string_view type, std::string_view event,
                   const std::string& detail);

  loop::loop& home_;
  runtime::loop_source& loops_;
  runtime::house& others_;
  const std::uint64_t pause_seed_;
  std::unique_ptr<record_store> store_;
  runtime::journal events_;
  loop::async_lock binding_;
  entry_list list_;
  local_directory directory_;
  bool is_ending_ = false;
  operation_count operations_;
  loop::task_group tasks_;
};

}  // namespace strata::daemon
