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

#include "runtime/cache/engine/client.hpp"
#include "runtime/cache/engine/key_observer.hpp"
#include "runtime/cache/engine/pubsub.hpp"

namespace strata::runtime::cache {

class tracking {
 public:
  /// `drawn`: it is drawn to touched keys while somebody tracks.
  explicit tracking(attention& drawn) : attention_(drawn) {}

  [[nodiscard]] bool empty() const { return trackers_.empty(); }
  [[nodiscard]] std::size_t clients() const { return trackers_.size(); }
  [[nodiscard]] std::size_t keys() const { return keys_.size(); }

  /// `target` hears instead of `who`, if not null.
  void enable(client& who, const tracking_state& how, client* target);
  void disable(client& who);
  /// Forgets a client, as one who tracks and as one who hears for another.
  void leave(client& gone);

  /// From here on, what happens is the doing of `who`: it hears of it behind its reply.
  void begin(client& who) { current_ = &who; }
  /// `what` is all done.
  void end(const command& what);
  /// `who` has read these words' keys. At most `most_keys` are kept (0: all); of another one its
  /// clients are told, as if it had changed.
  void remember(client& who, const command& what, std::span<const std::string_view> words,
                std::size_t most_keys);
  void touch(std::string_view key);
  /// All keys are gone.
  void flush();
  /// Tells those who hear of prefixes what has changed since the last call.
  void broadcast();

 private:
  using key_list = std::span<const std::string_view>;
  void tell(client& tracker, std::optional<key_list> keys);
  void tell_of(std::string_view key, const boost::container::flat_set<std::uint64_t>& ids);
  void tell_of_prefix(client& tracker, std::string_view prefix);

  // Which clients have read the key; some of them may have gone since.
  boost::unordered_flat_map<std::string, boost::container::flat_set<std::uint64_t>,
                            pubsub::text_hash, std::equal_to<>>
      keys_;
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
