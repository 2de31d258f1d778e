// An etcd that lives in a simulated world: keys, leases, transactions and watches as its JSON
// gateway has them, behind links that are slow, are cut, and lose answers.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/etcd/gateway.hpp"
#include "cluster/testing/card_store.hpp"
#include "loop/condition.hpp"
#include "text/base64.hpp"
#include "text/number.hpp"

namespace strata::cluster {

class link_in_memory;

/// One etcd, for daemons on any loops of one simulated world.
class etcd_in_memory {
 public:
  struct change {
    std::int64_t revision = 0;
    std::string key;
    std::string encoded;  ///< the value in base64, as it was written
    std::int64_t mod = 0;
    bool is_gone = false;
  };
  struct pair {
    std::string encoded;  ///< the value in base64
    std::int64_t created = 0;
    std::int64_t modified = 0;
    std::int64_t lease = 0;
  };

  explicit etcd_in_memory(std::function<loop::time_point()> clock) : clock_(std::move(clock)) {}

  bool is_full = false;  ///< nothing is written any more

  /// Called with each write and removal of a key, in their order.
  std::function<void(const change&)> on_change;

  /// Errors: not_found for a lease that has ended.
  [[nodiscard]] result<nlohmann::json> answer(const std::string& path, const nlohmann::json& body);
  /// Ends the leases that are due, at most one turn late.
  void expire();
  /// Forgets the history up to now: watches that begin earlier are refused.
  void compact() { compacted_ = revision_; }
  /// Makes a backup of what stands in it.
  void back_up();
  /// Starts again from the last backup, if there is one: with fewer revisions, and leases that have
  /// their whole time before them. All watches end.
  void restore();
  /// How often it has started again.
  [[nodiscard]] int restarts() const { return restarts_; }

  [[nodiscard]] const std::map<std::string, pair>& keys() const { return keys_; }
  [[nodiscard]] const std::vector<change>& history() const { return history_; }
  [[nodiscard]] std::int64_t compacted() const { return compacted_; }
  /// Links that are notified of each change.
  void add(link_in_memory& link) { links_.push_back(&link); }
  void remove(link_in_memory& link) { std::erase(links_, &link); }
  [[nodiscard]] static std::string text(const nlohmann::json& body, const char* key) {
    return strata::text::base64_decode(body.value(key, std::string())).value_or("");
  }

 private:
  struct lease {
    loop::duration ttl;
    loop::time_point end;
  };
  struct backup {
    std::map<std::string, pair> keys;
    std::map<std::int64_t, lease> leases;
    std::size_t history_size;
    std::int64_t revision;
    std::int64_t compacted;
  };

  void put(const nlohmann::json& body);
  void remove(const std::string& key);
  void end_lease(std::int64_t id);
  [[nodiscard]] bool holds(const nlohmann::json& condition) const;
  [[nodiscard]] nlohmann::json header() const {
    return {{"revision", std::to_string(revision_)}, {"raft_term", std::to_string(restarts_ + 2)}};
  }
  [[nodiscard]] result<nlohmann::json> range(const nlohmann::json& body) const;
  [[nodiscard]] nlohmann::json newest(const nlohmann::json& body) const;
  [[nodiscard]] const change* version(const std::vector<std::size_t>& positions,
                                      std::int64_t revision) const;
  void note(change change);
  void notify_links();

  std::function<loop::time_point()> clock_;
  std::map<std::string, pair> keys_;
  std::map<std::int64_t, lease> leases_;
  loop::time_point first_end_ = loop::time_point::max();  // no lease ends before
  std::vector<change> history_;
  std::map<std::string, std::vector<std::size_t>> versions_;  // of each key, in the history
  std::int64_t revision_ = 1;
  std::int64_t compacted_ = 0;
  std::int64_t next_lease_ = 100;
  std::optional<backup> backup_;
  int restarts_ = 0;
  std::vector<link_in_memory*> links_;
};

/// What has passed over a link.
struct link_traffic {
  bool is_counted = false;  ///< whether bytes are: that takes time
  std::uint64_t calls = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

/// One daemon's link to it.
class link_in_memory final : public gateway {
 public:
  /// `chance` draws from 0 to 1.
  link_in_memory(loop::loop& loop, etcd_in_memory& etcd, std::function<double()> chance)
      : loop_(loop),
        etcd_(etcd),
        chance_(std::move(chance)),
        changed_(std::make_shared<loop::condition>(loop)) {
    etcd_.add(*this);
  }
  link_in_memory(const link_in_memory&) = delete;
  link_in_memory& operator=(const link_in_memory&) = delete;
  ~link_in_memory() override { etcd_.remove(*this); }

  link_faults faults;
  link_traffic traffic;

  loop::task<result<nlohmann::json>> call(std::string path, nlohmann::json body) override;
  loop::task<result<std::unique_ptr<gateway_stream>>> open(std::string path,
                                                           nlohmann::json body) override;
  loop::task<> travel();
  /// Something has changed in etcd: the watches learn of it when this loop runs.
  void notify();
  [[nodiscard]] loop::condition& changed() { return *changed_; }
  void count(const nlohmann::json& message);
  [[nodiscard]] loop::loop& loop() { return loop_; }
  [[nodiscard]] etcd_in_memory& etcd() { return etcd_; }

 private:
  loop::loop& loop_;
  etcd_in_memory& etcd_;
  std::function<double()> chance_;
  std::shared_ptr<loop::condition> changed_;
};

}  // namespace strata::cluster
