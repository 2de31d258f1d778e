// Clients that wait in blocking commands, by the keys for which they wait, and which of those keys
// have changed since.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <optional>
#include <set>
#include <vector>

#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/database_key.hpp"
#include "runtime/cache/engine/key_observer.hpp"

namespace strata::runtime::cache {

class blocked_clients {
 public:
  /// `drawn`: set to require touched keys while any client waits for a key.
  explicit blocked_clients(attention& drawn) : attention_(drawn) {}

  /// Adds a client; `client.waiting` holds what it waits for.
  void add(client& client);
  void remove(client& client);

  /// Has a client that waits served at that time as if its keys had changed.
  void retry_at(client& client, std::int64_t at_ms);
  /// Touches the keys of the clients whose time to retry has come.
  void touch_due(std::int64_t now_ms);

  void touch(unsigned database, std::string_view key);
  void touch_all(unsigned database);
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }
  /// Returns the keys touched since the last call, in that order.
  [[nodiscard]] std::vector<database_key> take_ready();
  /// Returns the clients that wait for `key`, longest first.
  [[nodiscard]] std::vector<client*> waiting_for(const database_key& key) const;

  /// Returns when the next client's time is over.
  [[nodiscard]] std::optional<std::int64_t> next_deadline_ms() const;
  /// Returns when the next client is tried again.
  [[nodiscard]] std::optional<std::int64_t> next_retry_ms() const;
  /// Returns the clients whose time is over.
  [[nodiscard]] std::vector<client*> overdue(std::int64_t now_ms) const;
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Returns how many of them wait for a limited time.
  [[nodiscard]] std::size_t limited() const { return deadlines_.size(); }

 private:
  boost::unordered_flat_map<database_key, std::vector<client*>, database_key_hash,
                            database_key_equal>
      keys_;
  boost::unordered_flat_set<database_key, database_key_hash, database_key_equal> is_ready_;
  std::vector<database_key> ready_;
  using time_set = std::set<std::pair<std::int64_t, client*>>;
  time_set deadlines_;
  time_set retries_;
  std::size_t count_ = 0;
  attention& attention_;
};

}  // namespace strata::runtime::cache
