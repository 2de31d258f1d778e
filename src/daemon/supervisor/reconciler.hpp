// Brings entries into line with their records, and is the only code that changes an entry. On the
// home loop.
//
// A change is written first and then applied, so that no crash can lose an acknowledged change; a
// change that cannot be applied is reverted in the store. A stop is done first: it must not depend
// on a disk.
//
// The caller of a member with an entry holds its lock, except for `return_later` and
// `hurry_holder`.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/store/record_store.hpp"
#include "daemon/supervisor/entry_list.hpp"
#include "daemon/supervisor/local_directory.hpp"
#include "daemon/supervisor/operation_count.hpp"
#include "daemon/supervisor/record_writer.hpp"
#include "loop/async_lock.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "runtime/runtime.hpp"
#include "runtime/runtime_service.hpp"

namespace strata::daemon {

/// How an entry is brought into line with its record.
struct manner {
  bool is_retry = false;        ///< automatic: the same failure reason is not reported again
  bool leaves_failure = false;  ///< the caller handles a failure
};

class reconciler {
 public:
  /// `others` serves the requests of runtimes' scripts; all but the store outlive this object.
  /// `pause_seed` makes the pauses between restarts reproducible for tests; 0: random.
  reconciler(loop::loop& loop, runtime::loop_source& loops, std::unique_ptr<record_store> store,
             runtime::runtime_service& others, std::uint64_t pause_seed);

  // --- the store
  /// Removes a record from which no runtime could be made.
  loop::task<result<void>> remove_unusable(std::string name);

  // --- one entry
  /// Makes a body with these options, which is in no entry. Errors: the options are wrong.
  result<std::unique_ptr<runtime::runtime>> make_body(const entry& subject,
                                                      const nlohmann::json& options);
  /// Makes an entry with its body, which is not in the list yet. Errors: its options are wrong.
  result<entry_ref> make_entry(record record, const nlohmann::json& options);
  /// Takes an entry that has no record out of the list.
  void discard(entry& subject);
  /// Writes the record of an entry that is new in the list, and applies it; the entry is not shown
  /// before. Errors: it cannot be written, or does not start: then nothing of it is left.
  loop::task<result<void>> create(entry_ref subject, bool is_started);
  /// Errors: those of `runtime::edit` and of the store; then nothing has changed.
  loop::task<result<runtime::edit_outcome>> change(entry_ref subject, nlohmann::json changes);
  loop::task<result<void>> start(entry_ref subject);
  /// Errors: its data cannot be saved, and it keeps running; or it has stopped, and that cannot be
  /// written yet.
  loop::task<result<void>> stop(entry_ref subject, loop::time_point limit);
  loop::task<result<void>> restart(entry_ref subject, loop::time_point limit);
  loop::task<result<void>> remove(entry_ref subject, loop::time_point limit);
  /// Removes an entry whose record is gone from the store.
  loop::task<> drop(entry_ref subject, loop::time_point limit);
  /// Stops it for the rest of the daemon's life. Its record stays.
  loop::task<> halt(entry_ref subject, loop::time_point limit);
  /// Applies what the record says and is not in force yet.
  loop::task<result<void>> reconcile(entry_ref subject, manner conduct);
  /// Schedules restarts of a failed runtime, as often as its options say.
  void return_later(const entry_ref& subject);

  /// Makes the holder of the lock give up its wait: at once if that is a start, otherwise at
  /// `limit`.
  void hurry_holder(const entry_ref& subject, loop::time_point limit);
  static void hurry(entry& subject);
  /// From now on nothing is started, and changes by others are no longer applied.
  void begin_end();
  [[nodiscard]] bool is_ending() const { return is_ending_; }

  /// Reports a change of an entry: as an event, in its log, and to the directory.
  void report(const entry& subject, std::string_view event, const std::string& detail = {});
  /// Reports a record from which no runtime can be made, as an event.
  void report_unusable(const record& record, const std::string& reason) {
    write_event(record.name, record.type, "unusable", reason);
  }
  /// Reports a change of another daemon of the cluster, as an event.
  void report_daemon(const std::string& daemon, std::string_view event, const std::string& detail) {
    write_event(daemon, "daemon", event, detail);
  }

  [[nodiscard]] entry_list& list() { return list_; }
  [[nodiscard]] const entry_list& list() const { return list_; }
  [[nodiscard]] local_directory& directory() { return directory_; }
  /// What runtimes find others by: the directory, unless `use_names` gave another.
  [[nodiscard]] net::directory& names() { return *names_; }
  void use_names(net::directory& names) { names_ = &names; }
  [[nodiscard]] runtime::journal& events() { return events_; }
  [[nodiscard]] operation_count& operations() { return operations_; }
  [[nodiscard]] record_store& store() { return records_.store(); }
  [[nodiscard]] const std::string& place() const { return records_.store().place(); }

 private:
  // --- bodies
  loop::task<result<runtime::edit_outcome>> apply_options(entry_ref subject);
  loop::task<result<void>> start_body(entry_ref subject, manner conduct);
  loop::task<result<void>> start_with_edits(entry_ref subject);
  void set_failed(entry& subject, const error& why, bool is_retry);
  /// Ends the running body; the entry is `stopping` meanwhile.
  loop::task<> end_body(entry_ref subject, loop::time_point limit);
  /// Makes a running body save the data that its end would lose, unless `limit` has passed. Errors:
  /// it could not, and keeps running.
  loop::task<result<void>> save_data(entry_ref subject, std::string operation,
                                     loop::time_point limit);
  /// Ends the body, and reports that it has stopped.
  loop::task<> stop_body(entry_ref subject, loop::time_point limit);
  /// Stops or removes the children, as configured, when their owner `text` has stopped or is gone.
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
  runtime::runtime_service& others_;
  const std::uint64_t pause_seed_;
  runtime::journal events_;
  loop::async_lock binding_;
  entry_list list_;
  local_directory directory_;
  net::directory* names_ = &directory_;
  bool is_ending_ = false;
  operation_count operations_;
  record_writer records_;
  loop::task_group tasks_;
};

}  // namespace strata::daemon
