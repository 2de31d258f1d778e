// The members of a shard: arrivals and departures, periodic checks, and the list for display.
#include <algorithm>

#include "runtime/server/datagram_port.hpp"
#include "runtime/server/script/shard_script.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/web/http_clients.hpp"

namespace strata::runtime::server {

namespace {

// For web members, in seconds: middleboxes forget a silent connection.
constexpr double longest_ping_interval = 4;

bool is_pinged(const member& one) { return one.wanted() >= encoding::websocket; }

}  // namespace

std::uint64_t shard::next_id() {
  return number_ << shard_bits | state_->next_id.fetch_add(1, std::memory_order_relaxed);
}

void shard::enter(member& arrived) {
  arrived.last_active = arrived.last_whole = loop_.now();
  arrived.position_ = static_cast<std::uint32_t>(members_.size());
  members_.push_back(&arrived);
  if (is_pinged(arrived)) ++pinged_;
  if (script_) script_->enter(arrived);
  arm_sweep();
}

void shard::leave(member& gone) {
  if (script_) script_->leave(gone);
  cache_links_.leave(gone.id());
  members_.back()->position_ = gone.position_;
  members_[gone.position_] = members_.back();
  members_.pop_back();
  if (is_pinged(gone)) --pinged_;
  deliveries_.forget(gone);
  auto id = gone.id();
  state_->master.compare_exchange_strong(id, 0);
}

member* shard::find(std::uint64_t id) {
  const auto found = std::ranges::find(members_, id, &member::id);
  return found == members_.end() ? nullptr : *found;
}

void shard::arm_sweep() {
  if (armed() || members_.empty()) return;
  auto shortest = options_.idle_timeout;
  if (!datagram_ports_.empty() && options_.peer_timeout > 0) {
    shortest = shortest == 0 ? options_.peer_timeout : std::min(shortest, options_.peer_timeout);
  }
  if (pinged_ != 0)
    shortest = shortest == 0 ? longest_ping_interval : std::min(shortest, longest_ping_interval);
  if (shortest == 0) return;
  loop_.arm_after(*this, loop::from_seconds(std::clamp(shortest / 4, 0.01, 5.0)));
}

void shard::on_timer() {
  const auto now = loop_.now();
  if (options_.idle_timeout > 0) {
    const auto oldest = now - loop::from_seconds(options_.idle_timeout);
    for (auto* each : members_) {
      if (each->has_connection() && each->last_active < oldest) each->dismiss(parting::idle);
    }
  }
  if (pinged_ != 0) {
    for (auto* each : members_) each->look_after(now);
  }
  if (options_.peer_timeout > 0) {
    const auto oldest = now - loop::from_seconds(options_.peer_timeout);
    for (auto& each : datagram_ports_) each.expire(oldest);
  }
  arm_sweep();
}

std::vector<client_report> shard::report() const {
  std::vector<client_report> clients;
  clients.reserve(members_.size());
  for (const auto* const each : members_) {
    if (each->protocol().empty()) continue;
    clients.push_back({.id = each->id(),
                       .address = each->address().text(),
                       .protocol = each->protocol(),
                       .tls_subject = each->tls_subject(),
                       .since = each->came,
                       .last_active = each->last_active,
                       .passed = each->passed,
                       .waiting = each->held(),
                       .groups = {}});
    if (script_) clients.back().groups = script_->groups_of(each->id());
  }
  add_reports(web_connections_, clients);
  return clients;
}

bool shard::disconnect(std::uint64_t id) {
  auto* const client = find(id);
  if (client == nullptr) return disconnect_client(web_connections_, id);
  client->dismiss(parting::asked_for);
  return true;
}

}  // namespace strata::runtime::server
