// That a network card takes the time of what it receives, for as long as somebody wants it.
#pragma once

#include <linux/net_tstamp.h>

#include <memory>

#include "strata/base/unique_fd.hpp"
#include "strata/l2/interface.hpp"

namespace strata::l2 {

class card_stamps {
 public:
  /// Has the card of `on` take the time of each received frame. What it does for frames that are
  /// sent stays as it is, since PTP lives by it. This process's sockets on an interface share the
  /// setting; the last one puts back what was there, unless somebody else has changed it meanwhile.
  /// Null when the card cannot, or its driver does not tell what is set, or without CAP_NET_ADMIN.
  [[nodiscard]] static std::shared_ptr<card_stamps> on(const interface& on);
  card_stamps(const card_stamps&) = delete;
  card_stamps& operator=(const card_stamps&) = delete;
  ~card_stamps();

 private:
  card_stamps(unique_fd asked, int index, const hwtstamp_config& before)
      : asked_(std::move(asked)), index_(index), before_(before) {}

  unique_fd asked_;  // in the interface's network namespace
  int index_;
  hwtstamp_config before_;
};

}  // namespace strata::l2
