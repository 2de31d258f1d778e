#include "runtime/proxy/streams/bridge.hpp"

#include <cerrno>
#include <utility>

namespace strata::runtime::proxy {

bool is_nobody_there(const error& why) {
  return why.sys_errno == ECONNREFUSED || why.sys_errno == EHOSTUNREACH ||
         why.sys_errno == ENETUNREACH;
}

bridge::bridge(const bond_means& means, ends ends, std::unique_ptr<net::message_port> client,
               std::unique_ptr<net::message_port> backend, std::size_t most,
               std::function<void(bool)> on_outcome)
    : bond(means),
      ends_(std::move(ends)),
      client_(std::move(client)),
      backend_(std::move(backend)),
      on_outcome_(std::move(on_outcome)),
      joint_(means.loop, *client_, *backend_,
             {.most_unsent = most,
              .receives_empty = true,
              .on_message = [this](bool from_client,
                                   byte_span message) { note_message(from_client, message); },
              .on_trouble = [this](bool of_client, const error& why,
                                   bool /*is_new*/) { note_trouble(of_client, why); }}) {}

client_report bridge::client() const {
  return {.address = ends_.client.address.text(),
          .protocol = ends_.protocol,
          .tls_subject = ends_.client.tls_subject,
          .waiting = client_->unsent()};
}

void bridge::note_message(bool from_client, byte_span message) {
  note_passed(from_client, tapped_form::message, message);
  if (!from_client) on_outcome_(true);
  (from_client ? counted().messages_in : counted().messages_out).add();
  (from_client ? counted().bytes_in : counted().bytes_out).add(message.size());
}

void bridge::note_trouble(bool of_client, const error& why) {
  if (why.code == errc::limit_exceeded) {
    counted().drop_message(drop::too_large);
    return;
  }
  counted().errors.add();
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
