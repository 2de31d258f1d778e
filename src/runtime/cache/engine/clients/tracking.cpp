#include "runtime/cache/engine/clients/tracking.hpp"

#include <algorithm>
#include <set>

#include "runtime/cache/engine/message_text.hpp"

namespace strata::runtime::cache {

namespace {

template <class Write>
void push_to(client& client, Write&& write) {
  client.push(message_text(client.is_resp3() ? 3 : 2, write).slice());
}

bool is_client_command(const command& command) {
  return command.parent != nullptr && command.parent->name == "client";
}

// Returns the positions of the words that are keys.
std::vector<std::size_t> keys_in(const command& command, std::span<const std::string_view> words) {
  std::vector<std::size_t> positions;
  const auto& range = command.row->keys;
  if (range.first == 0 || command.has(flag_movable_keys)) {
    (void)find_keys(command, words, positions);
    return positions;
  }
  // For most commands, the positions follow from the range alone.
  const auto count = static_cast<int>(words.size());
  const int last = range.last < 0 ? count + range.last : range.last;
  for (int at = range.first; at <= last && at < count; at += range.step) {
    positions.push_back(static_cast<std::size_t>(at));
  }
  return positions;
}

}  // namespace

void tracking::enable(client& who, const tracking_state& state, client* target) {
  if (who.tracking && who.tracking->broadcasts) --broadcasters_;
  who.tracking = std::make_unique<tracking_state>(state);
  who.tracking->target = target;
  if (state.broadcasts) ++broadcasters_;
  trackers_.emplace(who.id, &who);
  attention_.set(attention::reason::tracked, true);
}

void tracking::disable(client& client) {
  if (!client.tracking) return;
  if (client.tracking->broadcasts) --broadcasters_;
  client.tracking.reset();
  trackers_.erase(client.id);
  if (!trackers_.empty()) return;
  attention_.set(attention::reason::tracked, false);
  forget_keys();
  changed_.clear();
}

std::size_t tracking::prefixes() const {
  std::set<std::string_view> all;
  for (const auto& [id, each] : trackers_) {
    all.insert(each->tracking->prefixes.begin(), each->tracking->prefixes.end());
  }
  return all.size();
}

void tracking::leave(client& gone) {
  disable(gone);
  for (auto& [id, each] : trackers_) {
    if (each->tracking->target == &gone) each->tracking->target = nullptr;
  }
  if (current_ == &gone) current_ = nullptr;
}

void tracking::end(const command& command) {
  client* const who = std::exchange(current_, nullptr);
  if (std::exchange(has_flushed_, false)) {
    for (auto& [id, each] : trackers_) {
      if (each != who) notify(*each, std::nullopt);
    }
  }
  const auto pending = std::exchange(pending_, {});
  if (who == nullptr || !who->tracking) return;
  for (const auto& each : pending) {
    const std::array<std::string_view, 1> keys = {each ? std::string_view(*each) : ""};
    notify(*who, each ? std::optional<key_list>(keys) : std::nullopt);
  }
  // CLIENT CACHING applies to the next command, or the next transaction.
  if (!who->in_transaction && !is_client_command(command)) who->tracking->has_choice = false;
}

void tracking::remember(client& client, const command& command,
                        std::span<const std::string_view> words, std::size_t most_keys) {
  const auto& how = *client.tracking;
  if (how.broadcasts || command.has(flag_pubsub)) return;
  if ((how.opts_in && !how.has_choice) || (how.opts_out && how.has_choice)) return;
  for (const auto each : keys_in(command, words)) {
    items_ += keys_[std::string(words[each])].insert(client.id).second ? 1 : 0;
  }
  keep_within(most_keys);
}

void tracking::keep_within(std::size_t most_keys) {
  while (most_keys != 0 && keys_.size() > most_keys) {
    const auto key = keys_.begin()->first;
    invalidate(key, take_readers(keys_.begin()), reason::forgotten);
  }
}

boost::container::flat_set<std::uint64_t> tracking::take_readers(key_table::iterator place) {
  auto readers = std::move(place->second);
  items_ -= readers.size();
  keys_.erase(place);
  return readers;
}

void tracking::touch(std::string_view key) {
  if (broadcasters_ != 0) {
    changed_.insert_or_assign(std::string(key), current_ == nullptr ? 0 : current_->id);
  }
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  // `key` may refer to the entry's own key.
  invalidate(key, take_readers(found), reason::changed);
}

void tracking::invalidate(std::string_view key,
                          const boost::container::flat_set<std::uint64_t>& ids, reason why) {
  for (const auto id : ids) {
    const auto found = trackers_.find(id);
    if (found == trackers_.end() || found->second->tracking->broadcasts) continue;
    client& who = *found->second;
    if (&who == current_) {
      const bool is_own_change = why == reason::changed;
      if (!is_own_change || !who.tracking->no_loop) pending_.emplace_back(key);
      continue;
    }
    const std::array<std::string_view, 1> keys = {key};
    notify(who, keys);
  }
}

void tracking::forget_keys() {
  keys_.clear();
  items_ = 0;
}

void tracking::flush() {
  forget_keys();
  // If several databases are flushed in sequence, the client is notified once.
  if (!std::exchange(has_flushed_, true)) pending_.emplace_back();
}

void tracking::broadcast() {
  if (changed_.empty()) return;
  for (auto& [id, each] : trackers_) {
    if (!each->tracking->broadcasts) continue;
    for (const auto& prefix : each->tracking->prefixes) invalidate_prefix(*each, prefix);
  }
  changed_.clear();
}

void tracking::invalidate_prefix(client& tracker, std::string_view prefix) {
  std::vector<std::string_view> keys;
  for (auto at = changed_.lower_bound(prefix); at != changed_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    if (tracker.tracking->no_loop && at->second == tracker.id) continue;
    keys.emplace_back(at->first);
  }
  if (!keys.empty()) notify(tracker, keys);
}

void tracking::notify(client& tracker, std::optional<key_list> keys) {
  auto& how = *tracker.tracking;
  client* const to = how.redirect == 0 ? &tracker : how.target;
  if (to == nullptr) {
    how.is_redirect_broken = true;
    if (!tracker.is_resp3()) return;
    push_to(tracker, [&](proto::reply_writer& writer) {
      writer.push(2);
      writer.bulk("tracking-redir-broken");
      writer.integer(static_cast<std::int64_t>(how.redirect));
    });
    return;
  }
  // RESP2 can only express it as a message on a channel, which another connection receives.
  const bool as_message = !to->is_resp3();
  if (as_message && (how.redirect == 0 || !to->is_subscribed())) return;
  push_to(*to, [&](proto::reply_writer& writer) {
    writer.push(as_message ? 3 : 2);
    writer.bulk(as_message ? "message" : "invalidate");
    if (as_message) writer.bulk("__redis__:invalidate");
    if (!keys) {
      writer.null();
      return;
    }
    writer.array(keys->size());
    for (const auto& each : *keys) writer.bulk(each);
  });
}

}  // namespace strata::runtime::cache
