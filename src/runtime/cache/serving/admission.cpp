#include "runtime/cache/serving/admission.hpp"

#include <utility>

#include "runtime/acceptor_settings.hpp"
#include "runtime/introducers.hpp"
#include "runtime/refusals.hpp"

namespace strata::runtime::cache {

void admission::heed(const cache_options& options) {
  max_connections_ = options.max_connections;
  serves_strangers_ = options.serves_strangers();
  handshake_timeout_s_ = options.handshake_timeout;
}

// As in Redis, and with its first words, which its clients recognize.
std::string admission::objection_to(const net::stream& arrived) const {
  if (serves_strangers_ || arrived.peer().address.is_of_this_machine()) return {};
  return "-DENIED Redis is running in protected mode because protected mode is enabled and no "
         "password is set for the default user. This strata cache serves only clients on its "
         "own machine. On that machine, set a password (strata edit NAME --password ...), or "
         "allow all clients (strata edit NAME --protected-mode no).\r\n";
}

serve::acceptor_settings admission::settings(serve::connection_gauge& connections,
                                             counters& counted, journal& log,
                                             std::function<void()> on_rejected) const {
  auto made = counting_settings(connections, counted, log);
  made.most = [this] { return max_connections_.load(); };
  made.objection = [this](const net::stream& arrived) { return objection_to(arrived); };
  made.introduces = introducing(introducers_);
  made.refusal = "-ERR max number of clients reached\r\n";
  made.on_refused = [&counted, &log, on_rejected = std::move(on_rejected)](
                        const loop::socket_address& client, std::string_view words) {
    const auto reason = words.starts_with('-') ? words.substr(1) : words;
    note_refusal(counted, log, client, words.empty() ? refusal::limit : refusal::address,
                 words.empty() ? "the limit of --max-connections is reached"
                               : reason.substr(0, reason.find('.')));
    counted.connections_refused.add();
    on_rejected();
  };
  made.handshake_limit = [this] { return loop::from_seconds(handshake_timeout_s_.load()); };
  return made;
}

}  // namespace strata::runtime::cache
