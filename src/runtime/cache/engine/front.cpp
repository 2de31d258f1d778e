#include "runtime/cache/engine/front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/cache/engine/replication.hpp"
#include "text/random_id.hpp"

namespace strata::runtime::cache {

front::front(keyspace& data, parameters& settings)
    : keys_(data),
      parameters_(settings),
      watched_(data.watchfulness()),
      blocked_(data.watchfulness()),
      tracking_(data.watchfulness()),
      feed_(clients_, data.clock()),
      interruption_(data, availability_),
      statistics_(data, settings),
      started_ms_(data.clock().wall_us() / 1000),
      run_id_(text::random_id(data.random())) {
  keys_.set_observer(this);
}

front::~front() { keys_.set_observer(nullptr); }

// --- clients

void front::enter(client& arrived) {
  arrived.id = next_client_++;
  arrived.since_ms = arrived.last_command_ms = keys_.now_ms();
  log_out(arrived);
  clients_.push_back(&arrived);
  ++statistics_.counted().connections;
}

void front::leave(client& gone) {
  blocked_.remove(gone);
  watched_.unwatch(gone);
  if (gone.is_follower) replication_->forget(gone);
  pubsub_.leave(gone);
  tracking_.leave(gone);
  pause_.leave(gone);
  std::erase(clients_, &gone);
}

// Its user may be removed while its connection ends.
void front::disconnect(client& client) {
  if (!client.is_interrupted) {
    leave(client);
    client.user = &users_.default_user();
    client.is_trusted = client.is_unrestricted = false;
  }
  client.disconnect(false);
}

void front::answer(std::uint64_t id, const std::function<void(client&)>& reply) {
  const auto found = std::ranges::find(clients_, id, &client::id);
  if (found == clients_.end() || !(*found)->waiting) return;
  auto& who = **found;
  blocked_.remove(who);
  reply(who);
  who.resume(false);
}

void front::give_up_waiting(client& client) {
  if (!client.waiting) return;
  const auto give_up = client.waiting->give_up;
  blocked_.remove(client);
  give_up(*this, client);
  client.resume(false);
}

void front::end_overdue() {
  for (auto* each : blocked_.overdue(keys_.now_ms())) give_up_waiting(*each);
  if (pause_.is_over(keys_.now_ms())) pause_.end();
  if (may_retry()) blocked_.touch_due(keys_.now_ms());
}

// A command that is tried again may change data.
bool front::may_retry() const { return !pause_.is_on() && !availability_.is_restricted(); }

std::optional<std::int64_t> front::next_deadline_ms() const {
  std::optional<std::int64_t> next;
  for (const auto each : {blocked_.next_deadline_ms(), pause_.end_ms(),
                          may_retry() ? blocked_.next_retry_ms() : std::nullopt}) {
    if (each && (!next || *each < *next)) next = each;
  }
  return next;
}

// --- keys

void front::on_touch(unsigned database, std::string_view key) {
  if (!watched_.empty()) {
    watched_.touch(database, key, keys_[database].find(key, hash_of(key)) != nullptr);
  }
  blocked_.touch(database, key);
  if (!tracking_.empty()) tracking_.touch(key);
}

void front::on_clear(unsigned database) {
  if (!tracking_.empty()) tracking_.flush();
  watched_.replace_all(
      database, [this, database](const std::string& key) { return presence_of(database, key); },
      [](const std::string&) { return watched_keys::presence::absent; });
  blocked_.touch_all(database);
}

void front::on_exchange(unsigned database, unsigned other) {
  watched_.replace_all(
      database, [this, database](const std::string& key) { return presence_of(database, key); },
      [this, other](const std::string& key) { return presence_of(other, key); });
}

void front::on_exchanged(unsigned database) { blocked_.touch_all(database); }

watched_keys::presence front::presence_of(unsigned database, const std::string& key) const {
  const entry* const found = keys_[database].find(key, hash_of(key));
  if (found == nullptr) return watched_keys::presence::absent;
  const bool is_over = found->has_expiry() && found->expires_at_ms() <= keys_.now_ms();
  return is_over ? watched_keys::presence::expired : watched_keys::presence::present;
}

void front::on_event(std::string_view event, std::string_view key, unsigned database) {
  if ((parameters_.events & event_keyspace) != 0) {
    pubsub_.publish(fmt::format("__keyspace@{}__:{}", database, key), event);
  }
  if ((parameters_.events & event_keyevent) != 0) {
    pubsub_.publish(fmt::format("__keyevent@{}__:{}", database, event), key);
  }
}

// --- settings

void front::configure(parameters changed) {
  const auto options = changed_options(parameters_.options, changed.options);
  parameters_ = std::move(changed);
  tracking_.keep_within(static_cast<std::size_t>(parameters_.tracking_max_keys));
  apply_permissions();
  if (on_configured_) on_configured_(options);
}

}  // namespace strata::runtime::cache
