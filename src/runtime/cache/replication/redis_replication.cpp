#include "runtime/cache/replication/redis_replication.hpp"

#include <algorithm>

namespace strata::runtime::cache {

redis_replication::redis_replication(loop::loop& loop, engine& engine, snapshot_turn& turn,
                                     leader_connection::hooks hooks, std::shared_ptr<journal> log)
    : loop_(loop),
      engine_(engine),
      hooks_(std::move(hooks)),
      log_(std::move(log)),
      leader_(loop, engine, turn, log_) {
  engine_.home().set_replication(this);
}

redis_replication::~redis_replication() { engine_.home().set_replication(nullptr); }

void redis_replication::close() { link_.reset(); }

void redis_replication::tick() {
  leader_.tick();
  if (link_) link_->tick();
}

void redis_replication::follow(std::string host, std::uint16_t port) {
  if (link_ && link_->leader().host == host && link_->leader().port == port) return;
  // Followers of this cache must get the new data.
  leader_.drop_followers();
  link_.reset();
  auto hooks = hooks_;
  hooks.on_discard = [this] { leader_.begin_history(); };
  link_ = std::make_unique<leader_connection>(
      loop_, engine_,
      leader_connection::place{
          .host = std::move(host), .port = port, .own_port = own_port_, .secure = secure_},
      std::move(hooks), log_);
}

void redis_replication::follow_nobody() {
  if (!link_) return;
  link_.reset();
  hooks_.on_trouble({});
  leader_.drop_followers();
  log_->write(level::info, "stopped following the leader");
}

std::string redis_replication::configure(client& client, std::string_view option,
                                         std::string_view value) {
  client.is_follower = true;
  return leader_.configure(client, option, value);
}

void redis_replication::acknowledge(client& who, std::uint64_t offset, std::uint64_t synced) {
  if (!who.is_follower) return;
  leader_.acknowledge(who, offset, synced);
  engine_.home().awaited_syncs().check(engine_.home());
  std::erase_if(waiting_, [this](const waiting_client& each) {
    const auto count = leader_.count_followers(each.offset);
    if (count < each.count) return false;
    engine_.home().answer(each.id, [count](client& waits) {
      waits.reply().integer(static_cast<std::int64_t>(count));
    });
    return true;
  });
}

void redis_replication::synchronise(client& client, std::string_view id, std::int64_t start) {
  client.is_follower = true;
  leader_.synchronise(client, id, start);
}

void redis_replication::send_everything(client& client) {
  client.is_follower = true;
  leader_.send_everything(client);
}

void redis_replication::wait_for_followers(client& client, std::size_t count) {
  waiting_.push_back({.id = client.id, .offset = client.waits_for_offset, .count = count});
}

replication_figures redis_replication::figures() const {
  replication_figures now;
  leader_.add_to(now);
  if (!link_) return now;
  now.is_follower = true;
  now.leader_host = link_->leader().host;
  now.leader_port = link_->leader().port;
  now.link_state = link_->state();
  now.followed_offset = link_->offset();
  if (const auto received = link_->received_ms())
    now.silent_s = (engine_.keys().now_ms() - *received) / 1000;
  return now;
}

}  // namespace strata::runtime::cache
