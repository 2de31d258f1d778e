#include "runtime/cache/replication/redis_replication.hpp"

#include <algorithm>

namespace strata::runtime::cache {

redis_replication::redis_replication(loop::loop& loop, engine& engine, snapshot_turn& turn,
                                     leader_connection::hooks hooks, std::shared_ptr<journal> log)
    : loop_(loop),
      engine_(engine),
      hooks_(std::move(hooks)),
      log_(std::move(log)),
      leader_(loop, engine, turn, log_),
      failover_(engine, leader_, log_),
      migrations_(loop, engine, secure_, {hooks_.begin_work, hooks_.end_work}) {
  engine_.home().set_replication(this);
}

redis_replication::~redis_replication() { engine_.home().set_replication(nullptr); }

void redis_replication::close() {
  migrations_.cancel();
  failover_.end();
  link_.reset();
}

void redis_replication::tick() {
  leader_.tick();
  if (link_) link_->tick();
  if (failover_.is_on()) tick_failover();
}

void redis_replication::tick_failover() {
  using enum leader_connection::handover;
  if (const auto successor = failover_.choose_successor()) {
    follow({.host = successor->address,
            .port = static_cast<std::uint16_t>(successor->port),
            .own_port = own_port_,
            .secure = secure_,
            .known = leader_connection::position{.id = leader_.id(), .offset = leader_.offset()},
            .hands_over = true});
  } else if (link_ && link_->handed_over() == accepted) {
    keep_leader();
    failover_.end();
    log_->write(level::info, "the failover is complete");
  } else if (link_ && link_->handed_over() == rejected) {
    log_->write(level::warning, "the follower refuses to lead: the failover is aborted");
    (void)abort_failover();
  }
}

bool redis_replication::abort_failover() {
  if (!failover_.is_on()) return false;
  if (link_) {
    link_.reset();
    hooks_.on_trouble({});
  }
  failover_.end();
  return true;
}

std::string redis_replication::take_over(std::string_view id) {
  if (!link_) return "PSYNC FAILOVER can't be sent to a master.";
  if (id != link_->id()) return "PSYNC FAILOVER replid must match my replid.";
  const auto offset = link_->offset();
  follow_nobody();
  leader_.succeed(std::string(id), offset);
  keep_leader();
  log_->write(level::info, "leads from now on: the leader has handed over");
  return {};
}

// Also updates the daemon's record, so that the cache has the same leader after a restart.
void redis_replication::keep_leader() {
  auto next = engine_.home().settings();
  next.options.follow = leader_url();
  engine_.home().configure(std::move(next));
}

void redis_replication::follow(std::string host, std::uint16_t port) {
  if (link_ && link_->leader().host == host && link_->leader().port == port) return;
  follow({.host = std::move(host),
          .port = port,
          .own_port = own_port_,
          .secure = secure_,
          .names = names_,
          .known = known()});
}

// A leader that has succeeded the one before continues its stream.
std::optional<leader_connection::position> redis_replication::known() const {
  if (link_) return link_->known();
  if (leader_.offset() == 0) return {};
  return leader_connection::position{.id = leader_.id(), .offset = leader_.offset()};
}

void redis_replication::follow(leader_connection::place place) {
  // Followers of this cache must get the new data.
  leader_.drop_followers();
  link_.reset();
  auto hooks = hooks_;
  hooks.on_discard = [this] { leader_.begin_history(); };
  link_ =
      std::make_unique<leader_connection>(loop_, engine_, std::move(place), std::move(hooks), log_);
}

void redis_replication::follow_nobody() {
  if (!link_) return;
  const auto known = link_->known();
  link_.reset();
  hooks_.on_trouble({});
  // Its own followers can continue its own stream, those of the leader only the leader's.
  if (known && !leader_.has_followers()) {
    leader_.succeed(known->id, known->offset);
  } else {
    leader_.drop_followers();
  }
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
  now.failover_state = failover_.state();
  if (!link_) return now;
  now.is_follower = true;
  now.leader_host = link_->leader().host;
  now.leader_port = link_->leader().port;
  now.link_state = link_->state();
  now.followed_offset = link_->offset();
  const auto seconds_since = [this](loop::time_point then) {
    return std::chrono::floor<std::chrono::seconds>(loop_.now() - then).count();
  };
  if (const auto received = link_->last_received()) now.silent_s = seconds_since(*received);
  if (const auto lost = link_->lost_at()) now.down_s = seconds_since(*lost);
  now.transfer = link_->transfer();
  return now;
}

}  // namespace strata::runtime::cache
