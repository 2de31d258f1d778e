// Client-side caching: which clients have copies of which keys, and must be notified when those
// change.
//
// It costs nothing while no client tracks: the engine checks `empty()` first. A key is recorded by
// its name alone, whatever its database, as in Redis.
#pragma once

#include <boost/container/flat_set.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/clients/pubsub.hpp"
#include "runtime/cache/engine/key_observer.hpp"

namespace strata::runtime::cache {

class tracking {
 public:
  /// `drawn`: set to require touched keys while any client tracks.
  explicit tracking(attention& drawn) : attention_(drawn) {}

  [[nodiscard]] bool empty() const { return trackers_.empty(); }
  [[nodiscard]] std::size_t clients() const { return trackers_.size(); }
  [[nodiscard]] std::size_t keys() const { return keys_.size(); }
  /// The number of pairs of a key and a client that has read it.
  [[nodiscard]] std::size_t items() const { return items_; }
  /// The number of different prefixes for which clients are notified.
  [[nodiscard]] std::size_t prefixes() const;

  /// If `target` is not null, it is notified instead of `who`.
  void enable(client& who, const tracking_state& state, client* target);
  void disable(client& client);
  /// Removes a client, both as a tracking client and as a target.
  void leave(client& gone);

  /// From here on, attributes changes to `client`, which is notified of them after its reply.
  void begin(client& client) { current_ = &client; }
  /// Called when `command` is complete.
  void end(const command& command);
  /// Records that `client` has read these words' keys. At most `most_keys` keys are kept (0: all);
  /// if there are more, a key is forgotten and its clients are notified as if it had changed.
  void remember(client& client, const command& command, std::span<const std::string_view> words,
                std::size_t most_keys);
  /// Forgets keys beyond that number (0: none), and notifies their clients as if they had changed.
  void keep_within(std::size_t most_keys);
  void touch(std::string_view key);
  /// Called when all keys are removed.
  void flush();
  /// Notifies the clients with prefixes of all changes since the last call.
  void broadcast();

 private:
  using key_list = std::span<const std::string_view>;
  using key_table =
      boost::unordered_flat_map<std::string, boost::container::flat_set<std::uint64_t>,
                                pubsub::text_hash, std::equal_to<>>;
  boost::container::flat_set<std::uint64_t> take_readers(key_table::iterator place);
  void forget_keys();
  void notify(client& tracker, std::optional<key_list> keys);
  // A client that excludes its own changes is still notified of forgotten keys.
  enum class reason : std::uint8_t { changed, forgotten };
  void invalidate(std::string_view key, const boost::container::flat_set<std::uint64_t>& ids,
                  reason why);
  void invalidate_prefix(client& tracker, std::string_view prefix);

  // The clients that have read each key; some may have disconnected since.
  key_table keys_;
  std::size_t items_ = 0;  // over all keys together
  std::map<std::uint64_t, client*> trackers_;
  std::size_t broadcasters_ = 0;
  // Changed keys, and the client that changed each.
  std::map<std::string, std::uint64_t, std::less<>> changed_;
  // Pending notifications for the current client; nullopt means all keys.
  std::vector<std::optional<std::string>> pending_;
  client* current_ = nullptr;
  bool has_flushed_ = false;
  attention& attention_;
};

}  // namespace strata::runtime::cache
