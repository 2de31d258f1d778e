// Client-side caching: which clients keep copies of which keys, and are told when those change.
//
// It costs nothing while nobody tracks: the engine asks `empty()` first. A key is remembered by its
// name alone, in whichever database it is, as Redis has it.
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
  /// `drawn`: it is drawn to touched keys while somebody tracks.
  explicit tracking(attention& drawn) : attention_(drawn) {}

  [[nodiscard]] bool empty() const { return trackers_.empty(); }
  [[nodiscard]] std::size_t clients() const { return trackers_.size(); }
  [[nodiscard]] std::size_t keys() const { return keys_.size(); }
  /// Pairs of a key and a client that has read it.
  [[nodiscard]] std::size_t items() const { return items_; }
  /// Different prefixes that clients want to hear of.
  [[nodiscard]] std::size_t prefixes() const;

  /// `target` hears instead of `who`, if not null.
  void enable(client& who, const tracking_state& state, client* target);
  void disable(client& client);
  /// Forgets a client, as one who tracks and as one who hears for another.
  void leave(client& gone);

  /// From here on, what happens is the doing of `client`: it hears of it behind its reply.
  void begin(client& client) { current_ = &client; }
  /// `command` is all done.
  void end(const command& command);
  /// `client` has read these words' keys. At most `most_keys` are kept (0: all); of another one its
  /// clients are told, as if it had changed.
  void remember(client& client, const command& command, std::span<const std::string_view> words,
                std::size_t most_keys);
  /// Forgets keys beyond that number (0: none), and tells their clients as if they had changed.
  void keep_within(std::size_t most_keys);
  void touch(std::string_view key);
  /// All keys are gone.
  void flush();
  /// Tells those who hear of prefixes what has changed since the last call.
  void broadcast();

 private:
  using key_list = std::span<const std::string_view>;
  using key_table =
      boost::unordered_flat_map<std::string, boost::container::flat_set<std::uint64_t>,
                                pubsub::text_hash, std::equal_to<>>;
  boost::container::flat_set<std::uint64_t> take_readers(key_table::iterator place);
  void forget_keys();
  void tell(client& tracker, std::optional<key_list> keys);
  // A client that does not want to hear of its own changes still hears of keys that are forgotten.
  enum class reason : std::uint8_t { changed, forgotten };
  void tell_of(std::string_view key, const boost::container::flat_set<std::uint64_t>& ids,
               reason why);
  void tell_of_prefix(client& tracker, std::string_view prefix);

  // Which clients have read the key; some of them may have gone since.
  key_table keys_;
  std::size_t items_ = 0;  // of all keys together
  std::map<std::uint64_t, client*> trackers_;
  std::size_t broadcasters_ = 0;
  // Changed keys, and the client that changed each.
  std::map<std::string, std::uint64_t, std::less<>> changed_;
  // What the present client will hear of; nothing stands for all keys.
  std::vector<std::optional<std::string>> pending_;
  client* current_ = nullptr;
  bool has_flushed_ = false;
  attention& attention_;
};

}  // namespace strata::runtime::cache
