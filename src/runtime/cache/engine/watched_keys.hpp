// WATCH: which clients are to be told that a key has changed, so that their EXEC fails.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <vector>

#include "runtime/cache/engine/client.hpp"
#include "runtime/cache/engine/database_key.hpp"
#include "runtime/cache/engine/key_observer.hpp"

namespace strata::runtime::cache {

class watched_keys {
 public:
  /// `drawn`: it is drawn to touched keys while somebody watches one.
  explicit watched_keys(attention& drawn) : attention_(drawn) {}

  [[nodiscard]] bool empty() const { return keys_.empty(); }
  /// `was_expired`: the key is there, but its time is over.
  void watch(client& who, unsigned database, std::string_view key, bool was_expired);
  /// Forgets all that `who` watches.
  void unwatch(client& who);
  void touch(unsigned database, std::string_view key);
  /// All keys of the database for which `changes(key)` is true.
  template <class Changes>
  void touch_all(unsigned database, Changes&& changes) {
    for (auto& [watched, clients] : keys_) {
      if (watched.database == database && changes(watched.key)) fail(clients);
    }
  }

 private:
  static void fail(const std::vector<client*>& clients) {
    for (auto* each : clients) each->watch_failed = true;
  }

  boost::unordered_flat_map<database_key, std::vector<client*>, database_key_hash,
                            database_key_equal>
      keys_;
  attention& attention_;
};

}  // namespace strata::runtime::cache
