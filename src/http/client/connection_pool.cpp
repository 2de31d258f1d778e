#include "http/client/connection_pool.hpp"

#include <algorithm>

namespace strata::http {

std::unique_ptr<inquiry> connection_pool::take(const void* server, std::string_view preface) {
  const auto known = idle_.find(server);
  if (known == idle_.end()) return nullptr;
  auto& kept = known->second;
  const auto found = std::ranges::find(
      kept, preface,
      [](const watched_connection& each) -> std::string_view { return each.idle.preface; });
  if (found == kept.end()) return nullptr;
  found->watching.cancel();
  auto taken = std::move(found->idle.connection);
  kept.erase(found);
  return taken;
}

void connection_pool::give(idle_connection unused, loop::time_point limit, std::size_t most) {
  ended_.clear();
  if (most == 0) return;
  auto& kept = idle_[unused.server.get()];
  if (kept.size() >= most) kept.pop_back();
  kept.emplace_front().idle = std::move(unused);
  kept.front().watching.spawn(watch(kept.begin(), limit));
}

std::unique_ptr<inquiry> connection_pool::share(const void* server, std::string_view preface) {
  std::erase_if(shared_, [](const shared_connection& each) { return each.client->is_over(); });
  for (const auto& each : shared_) {
    const bool is_fit =
        each.server.get() == server && each.preface == preface && each.client->takes_more();
    if (is_fit) return each.client->open();
  }
  return nullptr;
}

void connection_pool::keep(std::shared_ptr<const void> server, std::string preface,
                           std::shared_ptr<http2_client> client) {
  shared_.push_back({std::move(server), std::move(preface), std::move(client)});
}

// Requests on shared connections are still answered.
void connection_pool::forget(const void* server) {
  idle_.erase(server);
  for (const auto& each : shared_) {
    if (each.server.get() == server) each.client->retire();
  }
}

void connection_pool::retain(const std::function<bool(const void* server)>& is_used) {
  std::erase_if(idle_, [&is_used](const auto& kept) { return !is_used(kept.first); });
  for (const auto& each : shared_) {
    if (!is_used(each.server.get())) each.client->retire();
  }
}

// It closes the connection, but only marks its entry for removal: this coroutine is stored there.
loop::task<> connection_pool::watch(shelf::iterator connection, loop::time_point limit) {
  auto& idle = connection->idle;
  co_await idle.connection->ended(limit);
  idle.connection.reset();
  ended_.splice(ended_.end(), idle_.at(idle.server.get()), connection);
}

std::size_t connection_pool::size() const {
  auto all = shared_.size();
  for (const auto& [server, kept] : idle_) all += kept.size();
  return all;
}

}  // namespace strata::http
