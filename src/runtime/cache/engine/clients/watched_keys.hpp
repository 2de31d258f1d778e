// WATCH: which clients are to be notified that a key has changed, so that their EXEC fails.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/database_key.hpp"
#include "runtime/cache/engine/key_observer.hpp"

namespace strata::runtime::cache {

class watched_keys {
 public:
  /// `drawn`: set to require touched keys while any client watches one.
  explicit watched_keys(attention& drawn) : attention_(drawn) {}

  [[nodiscard]] bool empty() const { return keys_.empty(); }
  /// `was_expired`: the key exists, but its time is over.
  void watch(client& client, unsigned database, std::string_view key, bool was_expired);
  /// Ends all watches of `client`.
  void unwatch(client& client);
  /// Reports that the key has changed, or, unless it `is_there`, was removed.
  void touch(unsigned database, std::string_view key, bool is_there);
  enum class presence : std::uint8_t { absent, expired, present };
  /// Changes the keys of the database from the state `before(key)` to the state `after(key)`.
  template <class Before, class After>
  void replace_all(unsigned database, Before&& before, After&& after) {
    for (auto& [watched, clients] : keys_) {
      if (watched.database == database)
        replace(watched, clients, before(watched.key), after(watched.key));
    }
  }

 private:
  void replace(const database_key& key, const std::vector<client*>& clients, presence before,
               presence after);

  boost::unordered_flat_map<database_key, std::vector<client*>, database_key_hash,
                            database_key_equal>
      keys_;
  attention& attention_;
};

}  // namespace strata::runtime::cache
