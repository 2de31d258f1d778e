// Names and groups across the daemons of a cluster: those of this daemon, and those of the cards of
// the others.
//
// On the home loop, except for the members of `net::directory`.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/card.hpp"
#include "daemon/supervisor/local_directory.hpp"

namespace strata::daemon {

class cluster_directory final : public net::directory {
 public:
  /// `local` and `loop`, the home loop, outlive it. `daemon` is the name of this one, and `zone`,
  /// which may be empty, its zone.
  cluster_directory(loop::loop& loop, local_directory& local, std::string daemon, std::string zone)
      : home_(loop), local_(local), own_(std::move(daemon)), zone_(std::move(zone)) {}

  /// `NAME` is a runtime of this daemon or, if it has none of that name, of any other;
  /// `NAME@DAEMON` is one of that daemon. Of a group, the members on this daemon come first, then
  /// those of its zone.
  loop::task<result<std::vector<net::endpoint_url>>> find_endpoints(loop::loop& asking,
                                                                    std::string name) override;
  /// A group has the members of all daemons: those of others as `NAME@DAEMON`.
  std::unique_ptr<watch> watch_members(loop::loop& asking, std::string watcher, std::string place,
                                       std::function<void(net::place_members)> on_members) override;

  /// Whether `NAME`, or `NAME@DAEMON`, is a runtime of another daemon or, with this one's name, of
  /// this one. On the home loop.
  [[nodiscard]] bool has(const std::string& name) const;
  /// Replaces the cards of all daemons, this one among them.
  void take(const std::map<std::string, cluster::card>& cards);

 private:
  class joint_watch;
  struct watch_state;

  [[nodiscard]] net::place_members remote_members(const std::string& watcher,
                                                  const std::string& place) const;
  [[nodiscard]] result<std::vector<net::endpoint_url>> remote_endpoints(
      const std::string& name) const;
  [[nodiscard]] result<std::vector<net::endpoint_url>> endpoints_of_group(const std::string& place);
  [[nodiscard]] const cluster::runtime_card* find(const std::string& name,
                                                  const std::string& daemon) const;
  /// Those of the names that are on daemons of this one's zone.
  [[nodiscard]] std::vector<std::string> neighbours_in(const std::vector<std::string>& names) const;
  void notify(const std::shared_ptr<watch_state>& state);

  loop::loop& home_;
  local_directory& local_;
  std::string own_;
  std::string zone_;
  std::map<std::string, cluster::card> cards_;
  std::vector<std::weak_ptr<watch_state>> watches_;
  std::size_t calls_ = 0;  // for groups
};

}  // namespace strata::daemon
