// A joined pair of client and backend, which the proxy breaks off when it stops, or when both are
// silent.
//
// For one loop's thread.
#pragma once

#include <boost/intrusive/list.hpp>

#include "loop/loop.hpp"

namespace strata::runtime::proxy {

class bond : public boost::intrusive::list_base_hook<
                 boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  using list = boost::intrusive::list<bond, boost::intrusive::constant_time_size<false>>;

  explicit bond(loop::loop& loop) : loop_(loop), last_active_(loop.now()) {}
  bond(const bond&) = delete;
  bond& operator=(const bond&) = delete;
  virtual ~bond() = default;

  /// Ends it as if it had broken.
  virtual void break_off() = 0;
  /// When data last arrived, from either side.
  [[nodiscard]] loop::time_point last_active() const { return last_active_; }

 protected:
  void note_active() { last_active_ = loop_.now(); }

  loop::loop& loop_;

 private:
  loop::time_point last_active_;
};

}  // namespace strata::runtime::proxy
