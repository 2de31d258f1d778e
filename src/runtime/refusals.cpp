#include "runtime/refusals.hpp"

#include <fmt/format.h>

namespace strata::runtime {

void note_refusal(counters& counted, journal& log, const loop::socket_address& client, refusal kind,
                  std::string_view reason) {
  const bool is_local = client.family() == AF_UNIX;
  note_refusal(counted, log, is_local ? "of the Unix socket" : client.text(), kind, reason);
}

void note_refusal(counters& counted, journal& log, std::string_view client, refusal kind,
                  std::string_view reason) {
  const auto row = static_cast<std::size_t>(kind);
  counted.refused[row].add();
  log.write_few(refusal_names[row], level::warning,
                fmt::format("client {} was refused: {}", client, reason));
}

}  // namespace strata::runtime
