// Two connections, each of which hears what the other says: bytes in order, the end of one
// direction without the other, and that a connection was broken.
//
// For one loop's thread.
#pragma once

#include <boost/intrusive/list.hpp>
#include <memory>

#include "loop/signal.hpp"
#include "loop/task_group.hpp"
#include "net/stream.hpp"
#include "runtime/counters.hpp"

namespace strata::runtime::proxy {

/// To be destroyed next: its peer is told that it was broken. A clean end would pass off a part as
/// the whole.
void break_connection(loop::loop& on, net::stream& which);

class relay : public boost::intrusive::list_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  using list = boost::intrusive::list<relay, boost::intrusive::constant_time_size<false>>;

  /// `most`: how many bytes may wait for a side that reads slowly. It and `counted` outlive this.
  relay(loop::loop& on, std::unique_ptr<net::stream> client, std::unique_ptr<net::stream> back,
        const std::uint64_t& most, counters& counted);

  /// Until both have said all, or one is broken: then the other is told so.
  [[nodiscard]] loop::task<> run();
  /// Ends it as if it were broken.
  void break_off();
  /// When something came last, from either side.
  [[nodiscard]] loop::time_point last_active() const { return last_active_; }

 private:
  loop::task<> carry(net::stream& from, net::stream& to, options::counter& bytes);

  loop::loop& loop_;
  std::unique_ptr<net::stream> client_;
  std::unique_ptr<net::stream> back_;
  const std::uint64_t& most_;
  counters& counted_;
  loop::time_point last_active_;
  loop::signal changed_;
  unsigned open_ = 2;  // directions
  bool is_broken_ = false;
  loop::task_group carrying_;
};

}  // namespace strata::runtime::proxy
