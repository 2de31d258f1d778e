#include "runtime/acceptor_settings.hpp"

#include "runtime/refusals.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime {

serve::acceptor_settings counting_settings(serve::connection_gauge& connections, counters& counted,
                                           journal& log) {
  return {
      .connections = connections,
      .on_refused =
          [&counted, &log](const loop::socket_address& client, std::string_view words) {
            counted.connections_refused.add();
            note_refusal(counted, log, client, words.empty() ? refusal::limit : refusal::files,
                         words.empty() ? "the limit of --max-connections is reached" : words);
          },
      .on_secured = [&log](const net::stream& stream) { log_subject(stream, log); },
      .on_handshake_failed =
          [&counted, &log](const error& why, bool is_logged) {
            counted.handshakes_failed.add();
            if (is_logged) log.write(level::warning, describe(why));
          },
      .on_trouble =
          [&counted, &log](const error& why, bool is_new) {
            counted.errors.add();
            if (is_new) log.write(level::error, describe(why));
          },
  };
}

}  // namespace strata::runtime
