#include "runtime/server/connection_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

connection_memory::connection_memory(shard& shard)
    : home_(shard), watch_(shard.loop(), [this] { return limit(); }, [this] { return check(); }) {}

std::uint64_t connection_memory::limit() const {
  const auto all = home_.options().max_memory_connections;
  return all == 0 ? 0 : std::max<std::uint64_t>(all / home_.state().shards.size(), 1);
}

serve::memory_watch::view connection_memory::check() {
  std::uint64_t held = 0;
  for (const auto* each : home_.members()) held += each->held();
  for (const auto& each : home_.web_connections()) held += each.held();
  home_.count().connections_memory.set(held);
  if (const auto most = limit(); most != 0 && held > most) let_go(held);
  return {.held = held, .goes_on = !home_.web_connections().empty()};
}

// The master stays: its receivers would lose more than its memory is worth.
void connection_memory::let_go(std::uint64_t held) {
  using holder = std::variant<member*, http::served_connection*>;
  std::vector<serve::held_memory<holder>> all;
  const auto master = home_.state().master.load();
  for (auto* each : home_.members()) {
    if (each->id() != master) all.push_back({each, each->held(), each->last_whole});
  }
  for (auto& each : home_.web_connections()) all.push_back({&each, each.held(), each.last_whole});
  for (const auto& each : serve::longest_unfinished(all, held, limit())) {
    home_.count().drop_message(drop::memory);
    if (auto* const* const connection = std::get_if<http::served_connection*>(&each.by)) {
      (*connection)->dismiss();
    } else {
      std::get<member*>(each.by)->dismiss(parting::memory);
    }
    home_.state().log->write_few(
        "memory of connections", level::warning,
        fmt::format("a client that held {} bytes was disconnected: all clients together held {}, "
                    "more than --max-memory-connections allows",
                    each.bytes, held));
  }
}

}  // namespace strata::runtime::server
