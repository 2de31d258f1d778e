// Makes the daemon's runtimes what their records say, and the records what people ask for. On the
// home loop.
//
// Whatever changes a record has been put into the store before its task ends. Operations on one
// runtime are done one after the other; those on different runtimes go side by side, and look-ups
// wait for nothing, however long the store takes.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/record_store.hpp"
#include "daemon/supervisor/entry.hpp"
#include "daemon/supervisor/relations.hpp"
#include "loop/async_lock.hpp"
#include "loop/condition.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/directory.hpp"
#include "runtime/house.hpp"
#include "runtime/runtime.hpp"

namespace strata::daemon {

/// A record that could not be restored.
struct unusable_record {
  std::string type;  ///< empty: not known
  std::string reason;
};

class supervisor final : public net::directory, public runtime::house {
 public:
  supervisor(loop::loop& loop, runtime::loop_source& loops, std::unique_ptr<record_store> store);

  /// Makes the runtimes of the records; before all else. What cannot be made is logged, and its
  /// record stays. Errors: the store cannot be read.
  loop::task<result<void>> load();
  /// Starts what ran when the daemon ended. What cannot start is logged, and is `failed`.
  loop::task<> start_wanted();
  /// Has those that run read their certificates again.
  loop::task<> read_files_again();
  /// Stops all, to be started again by the next daemon, and waits for the operations under way. A
  /// runtime that would deliver something first has until `limit`.
  loop::task<> shut_down(loop::time_point limit);
  /// Those that `shut_down` still waits for.
  [[nodiscard]] std::vector<std::string> unstopped() const;

  /// What `shut_down` waits for is given up.
  void hurry();

  /// With `start`, it is created only if it starts. `is_rehearsal`: it is checked, and not created.
  loop::task<result<entry_ref>> create(std::string type, std::string name, nlohmann::json options,
                                       bool start, bool is_rehearsal = false);
  loop::task<result<entry_ref>> start(std::string name);
  /// A stop, also that of a restart or a removal, has until `limit`: then what the runtime would
  /// deliver first is given up, and one that could not save its data goes on. With a limit that has
  /// passed nothing is delivered or saved. A type may have a limit of its own, and the limit of a
  /// later order ends what an earlier one waits for.
  loop::task<result<entry_ref>> stop(std::string name,
                                     loop::time_point limit = loop::time_point::max());
  loop::task<result<entry_ref>> restart(std::string name,
                                        loop::time_point limit = loop::time_point::max());
  loop::task<result<entry_ref>> reload(std::string name);
  loop::task<result<void>> remove(std::string name,
                                  loop::time_point limit = loop::time_point::max());
  loop::task<result<runtime::edit_outcome>> edit(std::string name, nlohmann::json changes);
  /// Has it do an operation of its type. Errors: conflict when it does not run; not_supported when
  /// its type has no such operation; invalid_argument of the call; the operation's own.
  loop::task<result<nlohmann::json>> ask(std::string name, std::string operation,
                                         runtime::operation_call call);

  // --- what there is: not what is still being created
  [[nodiscard]] result<entry_ref> find(const std::string& name) const;
  loop::task<result<std::vector<net::endpoint_url>>> find_endpoints(loop::loop& asking,
                                                                    std::string name) override;
  loop::task<net::group_members> find_members(loop::loop& asking, std::string whose,
                                              std::string group) override;
  loop::task<result<nlohmann::json>> obey(loop::loop& asking, runtime::house_order order) override;
  [[nodiscard]] net::directory& names() override { return *this; }
  /// Those that could not be restored, by name.
  [[nodiscard]] const std::map<std::string, unusable_record>& unusable() const { return unusable_; }
  [[nodiscard]] std::vector<entry_ref> all() const;
  /// Of all of them, those that could not be restored too.
  [[nodiscard]] std::vector<std::string> known_names() const;
  [[nodiscard]] std::vector<std::string> children(const std::string& name) const;

  /// What happened; each line's text is a JSON object.
  [[nodiscard]] runtime::journal& events() override { return events_; }
  [[nodiscard]] loop::loop& home() { return home_; }
  [[nodiscard]] const std::string& place() const { return store_->place(); }

 private:
  /// While it lives, `shut_down` does not end.
  class under_way {
   public:
    explicit under_way(supervisor& supervisor) : of_(supervisor) { ++of_.operations_; }
    under_way(const under_way&) = delete;
    under_way& operator=(const under_way&) = delete;
    ~under_way() {
      if (--of_.operations_ == 0) of_.idle_.notify();
    }

   private:
    supervisor& of_;
  };

  loop::task<result<nlohmann::json>> obey_here(runtime::house_order order);
  static result<void> check_creation(const runtime::house_order& order, nlohmann::json& options);
  result<void> check_edit(runtime::house_order& order) const;
  loop::task<result<nlohmann::json>> create_for(runtime::house_order order);
  loop::task<result<nlohmann::json>> ask_for(runtime::house_order order);
  loop::task<result<nlohmann::json>> look_for(runtime::house_order order);
  loop::task<> saved(std::string name);
  result<entry_ref> make(record record, const nlohmann::json& options);
  /// Errors: why it cannot be used.
  std::expected<entry_ref, std::string> restore(record saved);
  /// Makes an entry whose name nobody else can take from now on, and which nobody sees yet.
  result<entry_ref> reserve(const std::string& type, const std::string& name,
                            const nlohmann::json& options);
  loop::task<result<void>> save(entry_ref entry);
  /// From any thread.
  void write_event(const std::string& name, std::string_view type, std::string_view event,
                   const std::string& detail);
  void tell(const entry& entry, std::string_view event, const std::string& detail = {});
  /// What it has to wait for goes on in `waiting`.
  loop::task<> start_again(entry_ref subject, loop::task_group& waiting);
  loop::task<> await_port(entry_ref subject);
  loop::task<> stop_for_now(entry_ref entry, loop::time_point limit);
  /// `is_retry`: nobody asked for it, so that a failure for the same reason is not told again.
  loop::task<result<entry_ref>> locked_start(entry_ref entry, bool is_retry = false);
  loop::task<result<void>> start_with_edits(entry_ref entry);
  /// Ends what runs; it is `stopping` meanwhile.
  loop::task<> end_body(entry_ref subject, loop::time_point limit);
  /// Has one that runs save what its end would lose, unless `limit` has passed. Errors: it could
  /// not, and runs on.
  loop::task<result<void>> save_body(entry_ref subject, std::string operation,
                                     loop::time_point limit);
  loop::task<result<void>> locked_stop(entry_ref entry, loop::time_point limit);
  loop::task<result<entry_ref>> locked_restart(entry_ref entry, loop::time_point limit);
  loop::task<result<void>> locked_remove(entry_ref entry, loop::time_point limit);
  /// Does to the children what is to be done when their owner `text` has stopped, or is gone.
  loop::task<> end_children(std::string text, std::vector<entry_ref> children, bool is_gone);
  loop::task<> end_failed(entry_ref entry);
  /// Starts one that has failed again, later, as often as its options say.
  loop::task<> come_back(entry_ref entry);
  [[nodiscard]] bool comes_back(const entry& entry) const;
  /// Has an operation that holds the lock give up what it waits for: at once if that is a start,
  /// else at `limit`.
  void hurry_holder(const entry_ref& entry, loop::time_point limit);
  static void hurry(entry& subject);
  loop::task<> hurry_at(entry_ref entry, loop::time_point limit);
  net::group_members members_for(const std::string& whose, const std::string& group);
  [[nodiscard]] result<std::vector<net::endpoint_url>> endpoints_of(const std::string& name) const;

  loop::loop& home_;
  runtime::loop_source& loops_;
  std::unique_ptr<record_store> store_;
  runtime::journal events_;
  loop::async_lock binding_;
  entry_map entries_;
  told_members told_;
  std::map<std::string, unusable_record> unusable_;  // by name; their files stay
  bool stopping_ = false;
  std::size_t operations_ = 0;
  loop::condition idle_;
  loop::task_group endings_;
};

}  // namespace strata::daemon
