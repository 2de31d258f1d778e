// Clients that wait until their changes are synced to disk: WAITAOF.
#pragma once

#include <cstdint>
#include <vector>

namespace strata::runtime::cache {

class client;
class front;

class sync_waits {
 public:
  /// What a client waits for: that this cache's log is synced up to a position, and the logs of
  /// some followers up to an offset.
  struct wait {
    std::uint64_t client_id = 0;
    std::uint64_t position = 0;  ///< in the log
    std::uint64_t offset = 0;    ///< in the stream for followers
    bool needs_log = false;
    std::size_t followers = 0;
  };
  struct counts {
    bool log = false;  ///< it is synced
    std::size_t followers = 0;
  };

  [[nodiscard]] static counts count(const front& front, const wait& wait);
  [[nodiscard]] static bool is_over(const wait& wait, const counts& counts) {
    return (counts.log || !wait.needs_log) && counts.followers >= wait.followers;
  }
  static void reply(client& client, const counts& counts);

  void add(const wait& wait) { waits_.push_back(wait); }
  /// Replies with what is synced to a client that has waited long enough.
  void give_up(front& front, client& client);
  /// Replies to the clients whose wait is over; called when something was synced.
  void check(front& front);

 private:
  std::vector<wait> waits_;
};

}  // namespace strata::runtime::cache
