#include "runtime/cache/replication/redis_replication.hpp"

#include <algorithm>

namespace strata::runtime::cache {

redis_replication::redis_replication(loop::loop& on, engine& of, snapshot_turn& turn,
                                     leader_connection::hooks told, std::shared_ptr<journal> log)
    : loop_(on),
      engine_(of),
      hooks_(std::move(told)),
      log_(std::move(log)),
      leader_(on, of, turn, log_) {
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
  // Whoever follows this cache has to learn of other data.
  leader_.drop_followers();
  link_.reset();
  auto told = hooks_;
  told.on_discard = [this] { leader_.begin_history(); };
  link_ = std::make_unique<leader_connection>(
      loop_, engine_,
      leader_connection::place{
          .host = std::move(host), .port = port, .own_port = own_port_, .secure = secure_},
      std::move(told), log_);
}

void redis_replication::follow_nobody() {
  if (!link_) return;
  link_.reset();
  hooks_.on_trouble({});
  leader_.drop_followers();
  log_->write(level::info, "follows nobody any more");
}

std::string redis_replication::configure(client& who, std::string_view option,
                                         std::string_view value) {
  who.is_follower = true;
  return leader_.configure(who, option, value);
}

void redis_replication::acknowledge(client& who, std::uint64_t offset) {
  if (!who.is_follower) return;
  leader_.acknowledge(who, offset);
  std::erase_if(waiting_, [this](const waiting_client& each) {
    const auto count = leader_.count_followers(each.offset);
    if (count < each.count) return false;
    engine_.home().answer(each.id, [count](client& waits) {
      waits.reply().integer(static_cast<std::int64_t>(count));
    });
    return true;
  });
}

void redis_replication::synchronise(client& who, std::string_view id, std::int64_t from) {
  who.is_follower = true;
  leader_.synchronise(who, id, from);
}

void redis_replication::send_everything(client& who) {
  who.is_follower = true;
  leader_.send_everything(who);
}

void redis_replication::wait_for_followers(client& who, std::size_t count) {
  waiting_.push_back({.id = who.id, .offset = who.waits_for_offset, .count = count});
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
  if (const auto heard = link_->heard_ms())
    now.silent_s = (engine_.keys().now_ms() - *heard) / 1000;
  return now;
}

}  // namespace strata::runtime::cache
