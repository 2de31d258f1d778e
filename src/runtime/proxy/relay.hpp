// A client and a back, joined until both have said all, or one is broken: then the other is told
// so.
//
// For one loop's thread.
#pragma once

#include <boost/intrusive/list.hpp>
#include <functional>
#include <memory>

#include "net/byte_channel.hpp"
#include "net/joint.hpp"
#include "runtime/counters.hpp"

namespace strata::runtime::proxy {

class relay : public boost::intrusive::list_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  using list = boost::intrusive::list<relay, boost::intrusive::constant_time_size<false>>;

  /// `most`: how many bytes may wait for a side that reads slowly. `counted` outlives this.
  /// `on_outcome` may be empty: it is told, perhaps twice, that the back has said something or all
  /// has gone well to the end; or that the back broke off.
  relay(loop::loop& on, std::unique_ptr<net::byte_channel> client,
        std::unique_ptr<net::byte_channel> back, std::size_t most, counters& counted,
        std::function<void(bool is_good)> on_outcome);

  [[nodiscard]] loop::task<> run();
  /// Ends it as if it were broken.
  void break_off() { joint_.give_up(); }
  /// When something came last, from either side.
  [[nodiscard]] loop::time_point last_active() const { return last_active_; }

 private:
  loop::loop& loop_;
  std::unique_ptr<net::byte_channel> client_;
  std::unique_ptr<net::byte_channel> back_;
  counters& counted_;
  std::function<void(bool)> on_outcome_;
  bool has_heard_ = false;  // the back
  loop::time_point last_active_;
  net::joint joint_;
};

}  // namespace strata::runtime::proxy
