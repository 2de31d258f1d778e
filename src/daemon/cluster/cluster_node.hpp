// This daemon's place in its cluster: its card, made of its runtimes, and the cards of the others.
//
// For the home loop.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cluster/membership.hpp"
#include "cluster/registry.hpp"
#include "daemon/cluster/cluster_directory.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "options/daemon_options.hpp"

namespace strata::daemon {

class cluster_node final : public cluster_view {
 public:
  /// Makes the node of the options' cluster. `supervisor` outlives it. Errors: invalid_argument for
  /// an option that cannot be.
  [[nodiscard]] static result<std::unique_ptr<cluster_node>> make(
      supervisor& supervisor, const options::daemon_options& options);
  cluster_node(const cluster_node&) = delete;
  cluster_node& operator=(const cluster_node&) = delete;

  [[nodiscard]] net::directory& names() override { return names_; }
  [[nodiscard]] bool has(const std::string& name) const override { return names_.has(name); }
  [[nodiscard]] nlohmann::json report() const override;
  void set_drained(bool is_drained) override;
  [[nodiscard]] bool is_drained() const { return is_drained_; }
  /// Knows the other daemons from now on.
  void begin();
  /// Takes the name, with the present runtimes.
  void join();
  /// Keeps the name for a later daemon, which adopts it by the returned key.
  [[nodiscard]] std::string hand_over();
  /// That daemon has ended.
  void take_back();
  /// Has `join` take the name from the daemon that returned `key`.
  void adopt(const std::string& key) { registry_->adopt(key); }
  /// Gives up the name, until `limit` at most.
  [[nodiscard]] loop::task<> leave(loop::time_point limit);

 private:
  struct settings {
    std::string daemon;
    std::string place;      ///< the registry, without secrets
    std::string advertise;  ///< empty: no runtime is reached from other machines
    std::string zone;       ///< empty: none
    std::map<std::string, std::string> labels;
    std::string control;  ///< URL of the control API for others; empty: none
    loop::duration ttl{};
  };

  cluster_node(supervisor& supervisor, settings settings,
               std::unique_ptr<cluster::registry> registry);
  [[nodiscard]] cluster::card present_card() const;
  [[nodiscard]] std::optional<std::string> as_reached(const std::string& endpoint) const;
  [[nodiscard]] std::vector<std::string> endpoints_of(const entry& subject) const;
  void take_cards();
  void report_trouble();
  void report_changes(const std::map<std::string, cluster::card>& present);
  [[nodiscard]] loop::duration counting_interval() const;
  loop::task<> keep_card();
  void note_change();

  supervisor& supervisor_;
  settings settings_;
  bool is_drained_ = false;
  std::unique_ptr<cluster::registry> registry_;
  cluster::membership membership_;
  cluster_directory names_;
  std::map<std::string, cluster::card> reported_;  // of the others, without numbers of connections
  bool is_trouble_reported_ = false;
  bool has_changed_ = false;
  loop::condition changed_;
  runtime::journal::following events_;
  loop::task_group tasks_;
};

}  // namespace strata::daemon
