#include "runtime/cache/engine/clients/blocked_clients.hpp"

#include <algorithm>
#include <utility>

namespace strata::runtime::cache {

void blocked_clients::add(client& client) {
  const auto& wanted = *client.waiting;
  for (const auto& key : wanted.keys) {
    auto& clients = keys_[{wanted.database, key}];
    if (std::ranges::find(clients, &client) == clients.end()) clients.push_back(&client);
  }
  if (wanted.deadline_ms) deadlines_.emplace(*wanted.deadline_ms, &client);
  ++count_;
  attention_.set(attention::reason::awaited, !keys_.empty());
}

void blocked_clients::remove(client& client) {
  if (!client.waiting) return;
  const auto wanted = std::move(*client.waiting);
  client.waiting.reset();
  for (const auto& key : wanted.keys) {
    const auto found = keys_.find(database_key_view{wanted.database, key});
    if (found == keys_.end()) continue;
    std::erase(found->second, &client);
    if (found->second.empty()) keys_.erase(found);
  }
  if (wanted.deadline_ms) deadlines_.erase({*wanted.deadline_ms, &client});
  if (wanted.retry_ms) retries_.erase({*wanted.retry_ms, &client});
  --count_;
  attention_.set(attention::reason::awaited, !keys_.empty());
}

void blocked_clients::retry_at(client& client, std::int64_t at_ms) {
  auto& wanted = *client.waiting;
  if (wanted.retry_ms) retries_.erase({*wanted.retry_ms, &client});
  wanted.retry_ms = at_ms;
  retries_.emplace(at_ms, &client);
}

void blocked_clients::touch_due(std::int64_t now_ms) {
  while (!retries_.empty() && retries_.begin()->first <= now_ms) {
    auto& wanted = *retries_.begin()->second->waiting;
    retries_.erase(retries_.begin());
    wanted.retry_ms.reset();
    for (const auto& key : wanted.keys) touch(wanted.database, key);
  }
}

void blocked_clients::touch(unsigned database, std::string_view key) {
  const auto found = keys_.find(database_key_view{database, key});
  if (found == keys_.end()) return;
  if (is_ready_.insert(found->first).second) ready_.push_back(found->first);
}

void blocked_clients::touch_all(unsigned database) {
  for (const auto& [key, clients] : keys_) {
    if (key.database == database && is_ready_.insert(key).second) ready_.push_back(key);
  }
}

std::vector<database_key> blocked_clients::take_ready() {
  is_ready_.clear();
  return std::exchange(ready_, {});
}

std::vector<client*> blocked_clients::waiting_for(const database_key& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? std::vector<client*>{} : found->second;
}

std::optional<std::int64_t> blocked_clients::next_deadline_ms() const {
  if (deadlines_.empty()) return {};
  return deadlines_.begin()->first;
}

std::optional<std::int64_t> blocked_clients::next_retry_ms() const {
  if (retries_.empty()) return {};
  return retries_.begin()->first;
}

std::vector<client*> blocked_clients::overdue(std::int64_t now_ms) const {
  std::vector<client*> found;
  for (const auto& [deadline, who] : deadlines_) {
    if (deadline > now_ms) break;
    found.push_back(who);
  }
  return found;
}

}  // namespace strata::runtime::cache
