#include "runtime/cache/engine/clients/client_text.hpp"

#include <fmt/format.h>

#include "runtime/cache/engine/front.hpp"

namespace strata::runtime::cache {

namespace {

std::string flags_of(const client& client) {
  std::string flags;
  if (client.is_follower) flags += 'S';
  if (client.is_monitor) flags += 'O';
  if (client.is_subscribed()) flags += 'P';
  if (client.tracking) flags += 't';
  if (client.tracking && client.tracking->is_redirect_broken) flags += 'R';
  if (client.tracking && client.tracking->broadcasts) flags += 'B';
  if (client.in_transaction) flags += 'x';
  if (client.is_held()) flags += 'b';
  if (client.watch_failed) flags += 'd';
  if (client.is_ending) flags += 'c';
  if (client.no_evict) flags += 'e';
  if (client.no_touch) flags += 'T';
  return flags.empty() ? "N" : flags;
}

}  // namespace

std::string_view user_name(const client& client) {
  return client.user == nullptr ? default_user_name : client.user->name();
}

std::string client_text(front& front, client& client) {
  const auto now = front.keys().now_ms();
  auto text = fmt::format(
      "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db={} sub={} psub={} ssub={} "
      "multi={} qbuf={} qbuf-free={} argv-mem=0 multi-mem={} rbs=0 rbp=0 obl=0 oll={} omem={} "
      "tot-mem={} events=r cmd={} user={} "
      "redir={} resp={}",
      client.id, client.remote_address(), client.local_address(), client.descriptor_number(),
      client.name, (now - client.since_ms) / 1000, (now - client.last_command_ms) / 1000,
      flags_of(client), client.database, client.channels.size(), client.patterns.size(),
      client.shard_channels.size(),
      client.in_transaction ? static_cast<std::int64_t>(client.queued.size()) : -1,
      client.input_bytes(), client.input_room(), client.queued_bytes(),
      client.output_bytes() == 0 ? 0 : 1, client.output_bytes(), client.held(),
      client.last_command == nullptr ? "NULL" : client.last_command->full_name(), user_name(client),
      client.tracking ? static_cast<std::int64_t>(client.tracking->redirect) : -1,
      client.is_resp3() ? 3 : 2);
  if (front.settings().knows(version_7_2)) {
    text += fmt::format(" lib-name={} lib-ver={}", client.library, client.library_version);
  }
  return text;
}

}  // namespace strata::runtime::cache
