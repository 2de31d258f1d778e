// Both sides of replication for one cache: its followers, and its leader.
#pragma once

#include <functional>
#include <memory>

#include "runtime/cache/engine/replication.hpp"
#include "runtime/cache/replication/failover.hpp"
#include "runtime/cache/replication/key_migration.hpp"
#include "runtime/cache/replication/leader.hpp"
#include "runtime/cache/replication/leader_connection.hpp"

namespace strata::runtime::cache {

class redis_replication final : public replication {
 public:
  redis_replication(loop::loop& loop, engine& engine, snapshot_turn& turn,
                    leader_connection::hooks hooks, std::shared_ptr<journal> log);
  ~redis_replication();
  redis_replication(const redis_replication&) = delete;
  redis_replication& operator=(const redis_replication&) = delete;

  /// Sets the port on which this cache listens, for its leader's lists.
  void set_own_port(unsigned port) { own_port_ = port; }
  /// From the next connection on, leaders are followed by TLS, with the settings in `secure`; this
  /// includes leaders from REPLICAOF, so that protected data never goes by plain TCP.
  void secure_with(std::shared_ptr<const net::tls_context> secure) {
    secure_->set(std::move(secure));
  }
  /// Finds leaders that are runtimes in `names`, which outlives it; without, none is found.
  void find_leaders_in(net::directory& names) { names_ = &names; }
  /// Ends all connections and pending work.
  void close();
  /// Called periodically.
  void tick();
  /// Called when min-replicas-to-write or -max-lag has changed.
  void check_followers() { leader_.check_followers(); }

  /// With port 0, `host` is the name of a runtime.
  void follow(std::string host, std::uint16_t port) override;
  void follow_nobody() override;
  bool cut_link() override { return link_ && link_->cut(); }
  [[nodiscard]] std::string begin_failover(failover_request request) override {
    return failover_.begin(std::move(request), link_ != nullptr);
  }
  [[nodiscard]] bool abort_failover() override;
  [[nodiscard]] bool is_failing_over() const override { return failover_.is_on(); }
  [[nodiscard]] std::string take_over(std::string_view id) override;
  void migrate(client& client, migration_request request) override {
    migrations_.begin(client, std::move(request));
  }
  [[nodiscard]] std::string leader_url() const override { return link_ ? link_->url() : ""; }
  std::string configure(client& client, std::string_view option, std::string_view value) override;
  void acknowledge(client& who, std::uint64_t offset, std::uint64_t synced) override;
  void synchronise(client& client, std::string_view id, std::int64_t start) override;
  void send_everything(client& client) override;
  void forget(client& client) override { leader_.forget(client); }
  [[nodiscard]] std::size_t count_synced_followers(std::uint64_t offset) const override {
    return leader_.count_synced_followers(offset);
  }
  [[nodiscard]] std::size_t count_followers(std::uint64_t offset) const override {
    return leader_.count_followers(offset);
  }
  void ask_followers() override { leader_.ask_followers(); }
  void wait_for_followers(client& client, std::size_t count) override;
  [[nodiscard]] replication_figures figures() const override;

 private:
  struct waiting_client {
    std::uint64_t id;
    std::uint64_t offset;
    std::size_t count;
  };

  void follow(leader_connection::place place);
  [[nodiscard]] std::optional<leader_connection::position> known() const;
  void tick_failover();
  void keep_leader();

  loop::loop& loop_;
  engine& engine_;
  leader_connection::hooks hooks_;
  std::shared_ptr<journal> log_;
  leader leader_;
  failover failover_;
  std::unique_ptr<leader_connection> link_;
  std::shared_ptr<net::tls_slot> secure_ = std::make_shared<net::tls_slot>();
  std::vector<waiting_client> waiting_;
  key_migration migrations_;
  unsigned own_port_ = 0;
  net::directory* names_ = nullptr;
};

}  // namespace strata::runtime::cache
