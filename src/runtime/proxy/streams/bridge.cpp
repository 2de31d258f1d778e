#include "runtime/proxy/streams/bridge.hpp"

#include <cerrno>
#include <utility>

namespace strata::runtime::proxy {

bool is_nobody_there(const error& why) {
  return why.sys_errno == ECONNREFUSED || why.sys_errno == EHOSTUNREACH ||
         why.sys_errno == ENETUNREACH;
}

bridge::bridge(loop::loop& loop, std::unique_ptr<net::message_port> client,
               std::unique_ptr<net::message_port> backend, std::size_t most, counters& counted,
               std::function<void(bool)> on_outcome)
    : bond(loop),
      client_(std::move(client)),
      backend_(std::move(backend)),
      counted_(counted),
      on_outcome_(std::move(on_outcome)),
      joint_(loop, *client_, *backend_,
             {.most_unsent = most,
              .hears_empty = true,
              .on_message = [this](bool from_client,
                                   std::size_t size) { note_message(from_client, size); },
              .on_trouble = [this](bool of_client, const error& why,
                                   bool /*is_new*/) { note_trouble(of_client, why); }}) {}

void bridge::note_message(bool from_client, std::size_t size) {
  note_active();
  if (!from_client) on_outcome_(true);
  (from_client ? counted_.messages_in : counted_.messages_out).add();
  (from_client ? counted_.bytes_in : counted_.bytes_out).add(size);
}

void bridge::note_trouble(bool of_client, const error& why) {
  if (why.code == errc::limit_exceeded) {
    counted_.drop_message(drop::too_large);
    return;
  }
  counted_.errors.add();
  if (of_client || !is_nobody_there(why)) return;
  on_outcome_(false);
  joint_.give_up();
}

loop::task<> bridge::run() {
  const auto breach = co_await joint_.run();
  on_outcome_(!breach || breach->is_of_first);
  if (!breach) co_return;
  client_->break_off();
  backend_->break_off();
}

}  // namespace strata::runtime::proxy
