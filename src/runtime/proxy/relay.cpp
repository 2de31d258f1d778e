#include "runtime/proxy/relay.hpp"

#include "loop/reset.hpp"

namespace strata::runtime::proxy {

// TLS that ends without a word of its own tells its peer the same.
void break_connection(loop::loop& on, net::stream& which) {
  loop::reset_on_close(on, which.out().socket());
  if (which.tls() != nullptr) which.abort();
}

relay::relay(loop::loop& on, std::unique_ptr<net::stream> client, std::unique_ptr<net::stream> back,
             const std::uint64_t& most, counters& counted)
    : loop_(on),
      client_(std::move(client)),
      back_(std::move(back)),
      most_(most),
      counted_(counted),
      last_active_(on.now()),
      changed_(on) {}

loop::task<> relay::run() {
  carrying_.spawn(carry(*client_, *back_, counted_.bytes_in));
  carrying_.spawn(carry(*back_, *client_, counted_.bytes_out));
  while (open_ != 0 && !is_broken_) co_await changed_.wait();
  if (is_broken_) {
    carrying_.cancel();
    break_connection(loop_, *client_);
    break_connection(loop_, *back_);
    co_return;
  }
  // Both have ended: nothing of theirs is unread, so closing loses nothing that has left.
  const bool one = co_await client_->flushed(loop::time_point::max());
  const bool other = co_await back_->flushed(loop::time_point::max());
  (void)one;
  (void)other;
}

void relay::break_off() {
  is_broken_ = true;
  changed_.raise();
}

loop::task<> relay::carry(net::stream& from, net::stream& to, options::counter& bytes) {
  for (bool goes_on = true; goes_on;) {
    {
      // What is lent is given back before anything else is waited for.
      const auto got = co_await from.receive();
      if (!got || to.broken() != 0) {
        break_off();
        co_return;
      }
      goes_on = !got->empty();
      last_active_ = loop_.now();
      bytes.add(got->bytes().size());
      to.push_copy(got->bytes());
    }
    if (to.unsent() <= most_) continue;
    const bool has_room = co_await to.writable(most_ / 2);
    (void)has_room;
  }
  to.end();
  --open_;
  changed_.raise();
}

}  // namespace strata::runtime::proxy
