// Does what people and scripts ask for, in order: one operation on a runtime after the other, those
// on different runtimes side by side. Look-ups wait for nothing, however long the store takes. On
// the home loop.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/record_store.hpp"
#include "daemon/supervisor/entry_list.hpp"
#include "daemon/supervisor/reconciler.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "runtime/house.hpp"
#include "runtime/runtime.hpp"

namespace strata::daemon {

/// A runtime to be made.
struct creation {
  std::string type;
  std::string name;
  nlohmann::json options = nlohmann::json::object();
  bool is_started = false;    ///< it is created only if it starts
  bool is_rehearsal = false;  ///< it is checked, and not created
  std::string origin = {};    ///< as `record::origin`
};

class supervisor final : public runtime::house {
 public:
  /// `pause_seed` makes the pauses between restarts those of a test; 0: by chance.
  supervisor(loop::loop& loop, runtime::loop_source& loops, std::unique_ptr<record_store> store,
             std::uint64_t pause_seed = 0);

  /// Makes the runtimes of the records; before all else. What cannot be made is logged, and its
  /// record stays. Errors: the store cannot be read.
  loop::task<result<void>> load() { return reconciler_.load(); }
  /// Starts what is to run. What cannot start is logged, and is `failed`.
  loop::task<> start_all();
  /// Has those that run read their certificates again.
  loop::task<> read_files_again();
  /// Stops all, to be started again by the next daemon, and waits for the operations under way. A
  /// runtime that would deliver something first has until `limit`.
  loop::task<> shut_down(loop::time_point limit);
  /// Those that `shut_down` still waits for.
  [[nodiscard]] std::vector<std::string> unstopped() const;
  /// What `shut_down` waits for is given up.
  void hurry();

  loop::task<result<entry_ref>> create(creation ordered);
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
  /// With `expected`, its record must have that revision. Errors: conflict when it has another.
  loop::task<result<runtime::edit_outcome>> edit(std::string name, nlohmann::json changes,
                                                 std::optional<std::uint64_t> expected = {});
  /// Has it do an operation of its type. Errors: conflict when it does not run; not_supported when
  /// its type has no such operation; invalid_argument of the call; the operation's own.
  loop::task<result<nlohmann::json>> ask(std::string name, std::string operation,
                                         runtime::operation_call call);

  loop::task<result<nlohmann::json>> obey(loop::loop& asking, runtime::house_order order) override;
  [[nodiscard]] net::directory& names() override { return reconciler_.directory(); }
  /// What happened; each line's text is a JSON object.
  [[nodiscard]] runtime::journal& events() override { return reconciler_.events(); }

  /// What there is.
  [[nodiscard]] const entry_list& list() const { return reconciler_.list(); }
  [[nodiscard]] result<entry_ref> find(const std::string& name) const { return list().find(name); }
  [[nodiscard]] loop::loop& home() { return home_; }
  [[nodiscard]] const std::string& place() const { return reconciler_.place(); }

 private:
  loop::task<result<nlohmann::json>> obey_here(runtime::house_order order);
  static result<void> check_creation(const runtime::house_order& order, nlohmann::json& options);
  result<void> check_edit(runtime::house_order& order) const;
  loop::task<result<nlohmann::json>> create_for(runtime::house_order order);
  loop::task<result<nlohmann::json>> ask_for(runtime::house_order order);
  loop::task<result<nlohmann::json>> look_for(runtime::house_order order);
  loop::task<> stored(std::string name);
  /// Makes an entry whose name nobody else can take from now on, and which nobody sees yet.
  result<entry_ref> reserve(const creation& ordered);
  /// What it has to wait for goes on in `waiting`.
  loop::task<> start_again(entry_ref subject, loop::task_group& waiting);
  loop::task<> await_port(entry_ref subject);
  loop::task<> halt(entry_ref subject, loop::time_point limit);
  [[nodiscard]] const entry_map& entries() const { return list().entries(); }

  loop::loop& home_;
  reconciler reconciler_;
};

}  // namespace strata::daemon
