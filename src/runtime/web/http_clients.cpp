#include "runtime/web/http_clients.hpp"

#include <algorithm>

namespace strata::runtime {

void add_reports(const http::served_connection::list& connections,
                 std::vector<client_report>& reports) {
  for (const auto& each : connections) {
    const auto* const stream = each.stream();
    if (stream == nullptr || !each.is_listed) continue;
    const auto& peer = stream->peer();
    reports.push_back({.id = each.id,
                       .address = peer.address.text(),
                       .protocol = stream->tls() != nullptr ? "https" : "http",
                       .tls_subject = peer.tls_subject,
                       .since = each.came,
                       .last_active = each.last_active,
                       .passed = {.messages_in = each.requests,
                                  .bytes_in = each.bytes_received,
                                  .messages_out = each.requests - each.unanswered,
                                  .bytes_out = stream->sent()},
                       .waiting = each.held(),
                       .groups = {}});
  }
}

bool disconnect_client(http::served_connection::list& connections, std::uint64_t id) {
  const auto found = std::ranges::find(connections, id, &http::served_connection::id);
  if (found == connections.end()) return false;
  found->dismiss();
  return true;
}

}  // namespace strata::runtime
