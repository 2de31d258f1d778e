// A registry in etcd: a card is a key under a lease, which etcd ends when it is not kept alive.
//
// For one loop's thread.
#pragma once

#include <memory>
#include <string>

#include "cluster/etcd/gateway.hpp"
#include "cluster/registry.hpp"

namespace strata::cluster {

class etcd_registry final : public registry {
 public:
  struct settings {
    std::string prefix = "/strata/daemons/";
    loop::duration ttl;  ///< etcd counts in seconds, and rounds up
  };

  etcd_registry(std::unique_ptr<gateway> gateway, settings settings);

  loop::task<result<void>> claim(std::string daemon, std::string text) override;
  loop::task<result<void>> renew() override;
  loop::task<result<void>> write(std::string text) override;
  loop::task<result<void>> release() override;
  [[nodiscard]] std::string claim_key() const override { return std::to_string(lease_); }
  void adopt(const std::string& key) override;
  void leave() override { lease_ = 0; }
  loop::task<result<card_texts>> read() override;
  loop::task<result<std::vector<card_change>>> next(loop::time_point limit) override;

 private:
  /// What tells one state of all cards from another: their number, and the newest revision. An etcd
  /// that was restored from a backup counts revisions again, in another term.
  struct mark {
    std::int64_t count = 0;
    std::int64_t newest = 0;
    std::int64_t term = 0;
    bool operator==(const mark&) const = default;
  };

  /// Where a read of all cards stands.
  struct reading {
    nlohmann::json request;  ///< of the next page
    std::size_t page_keys;   ///< most keys of the next page
    card_texts cards = {};
  };

  loop::task<result<void>> open_lease();
  loop::task<result<bool>> write_with_lease(nlohmann::json transaction);
  loop::task<result<void>> put_new(const std::string& text);
  loop::task<result<void>> write_own(nlohmann::json requests);
  loop::task<result<void>> keep_lease();
  /// The request that writes the key under the lease.
  [[nodiscard]] nlohmann::json put(const std::string& text) const;
  /// The condition that the key stands under the lease.
  [[nodiscard]] nlohmann::json is_own() const;
  loop::task<result<void>> check_watch();
  loop::task<result<mark>> read_mark();
  /// Returns whether there is another page.
  loop::task<result<bool>> read_page(reading& reading);
  bool take_page(const nlohmann::json& page, reading& reading);
  result<std::vector<card_change>> changes_in(const nlohmann::json& answer);
  [[nodiscard]] std::string key() const { return settings_.prefix + daemon_; }
  [[nodiscard]] nlohmann::json range() const;

  std::unique_ptr<gateway> gateway_;
  settings settings_;
  std::string daemon_;
  std::int64_t lease_ = 0;     // 0: it has none
  bool is_confirmed_ = false;  // the key stands under it
  std::unique_ptr<gateway_stream> watch_;
  std::int64_t revision_ = 0;                 // of the last state that was read
  std::int64_t term_ = 0;                     // of the state that was read
  std::map<std::string, std::int64_t> mods_;  // each card's revision
};

}  // namespace strata::cluster
