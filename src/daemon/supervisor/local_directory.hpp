// Where the daemon's own runtimes listen, and which of them form a group. On the home loop, except
// for the members of `net::directory`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/supervisor/entry_list.hpp"
#include "daemon/supervisor/relations.hpp"
#include "loop/task_group.hpp"
#include "net/directory.hpp"

namespace strata::daemon {

class local_directory final : public net::directory {
 public:
  /// `loop` is that of the entries; both outlive this object, and the loop outlives the watches.
  local_directory(loop::loop& loop, const entry_list& list) : home_(loop), list_(list) {}

  loop::task<result<std::vector<net::endpoint_url>>> find_endpoints(loop::loop& asking,
                                                                    std::string name) override;
  std::unique_ptr<watch> watch_members(loop::loop& asking, std::string watcher, std::string place,
                                       std::function<void(net::place_members)> on_members) override;

  /// Returns where the members of a group listen now; empty: none does.
  [[nodiscard]] std::vector<net::endpoint_url> endpoints_of_group(const std::string& group);
  /// Whether there is a runtime of that name.
  [[nodiscard]] bool has(const std::string& name) const { return list_.find(name).has_value(); }
  /// Notifies the watches, soon, of what has changed. Call it after each change of an entry.
  void refresh();
  /// The members that the watchers have been given.
  [[nodiscard]] const given_members& given() const { return given_; }

 private:
  class place_watch;
  struct watch_state;

  void add(const std::shared_ptr<watch_state>& state);
  loop::task<> notify_watches();
  void forget_ended();
  /// Gives a watch its members. Returns whether they have changed.
  bool notify(const std::shared_ptr<watch_state>& state);
  [[nodiscard]] net::place_members members_for(const watch_state& state) const;
  [[nodiscard]] net::place_members members_of_group(const std::string& watcher,
                                                    const std::string& group) const;
  /// The open instances of a runtime; its name if it has none.
  [[nodiscard]] std::vector<std::string> instances_of(const std::string& name) const;
  [[nodiscard]] result<std::vector<net::endpoint_url>> endpoints_of(const std::string& place) const;

  loop::loop& home_;
  const entry_list& list_;
  std::vector<std::weak_ptr<watch_state>> watches_;
  given_members given_;
  std::size_t calls_ = 0;  // for groups
  bool is_refreshing_ = false;
  bool has_changed_ = false;
  loop::task_group tasks_;
};

}  // namespace strata::daemon
