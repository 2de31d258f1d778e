// That a network card takes the time of frames, for as long as somebody wants it.
#pragma once

#include <linux/net_tstamp.h>

#include <memory>

#include "strata/base/unique_fd.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::l2 {

/// Of which frames.
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
  /// Has the card of `interface` take the time of each frame of the wanted kind. What it does for
  /// the other kind stays as it is, since PTP lives by it. This process's sockets on an interface
  /// share the setting; the last one puts back what was there, unless somebody else has changed it
  /// meanwhile. Null when nothing is wanted, the card cannot, or its driver does not tell what is
  /// set, or without CAP_NET_ADMIN.
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
  wanted_stamps set_;  // what was changed for it
};

}  // namespace strata::l2
