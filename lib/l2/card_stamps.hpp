// Keeps a network card taking timestamps for as long as a socket needs them.
#pragma once

#include <linux/net_tstamp.h>

#include <memory>

#include "strata/base/unique_fd.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::l2 {

/// The frames to timestamp.
struct wanted_stamps {
  bool received = false;
  bool sent = false;
  [[nodiscard]] static wanted_stamps by(const raw_socket_options& options) {
    return {options.receives && options.timestamps == timestamping::hardware,
            options.send_timestamps == timestamping::hardware};
  }
  [[nodiscard]] bool any() const { return received || sent; }
};

class card_stamps {
 public:
  /// Sets the card of `interface` to timestamp each frame of the wanted kind. The setting for the
  /// other kind is kept, since PTP depends on it. This process's sockets on an interface share the
  /// setting; the last one restores the previous setting, unless another program has changed it
  /// meanwhile. Returns null if nothing is wanted, the card cannot take timestamps, its driver does
  /// not report the setting, or CAP_NET_ADMIN is missing.
  [[nodiscard]] static std::shared_ptr<card_stamps> on(const interface& interface,
                                                       wanted_stamps stamps);
  card_stamps(const card_stamps&) = delete;
  card_stamps& operator=(const card_stamps&) = delete;
  ~card_stamps();

 private:
  card_stamps(unique_fd fd, int index, const hwtstamp_config& before)
      : asked_(std::move(fd)), index_(index), before_(before) {}
  bool add(wanted_stamps stamps);

  unique_fd asked_;  // in the interface's network namespace
  int index_;
  hwtstamp_config before_;
  wanted_stamps set_;  // what was changed for the sockets
};

}  // namespace strata::l2
