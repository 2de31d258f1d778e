#include "runtime/proxy/web/pool.hpp"

#include <algorithm>

namespace strata::runtime::proxy {

std::unique_ptr<http::inquiry> pool::take(const backend& backend, std::string_view preface) {
  const auto known = idle_.find(&backend);
  if (known == idle_.end()) return nullptr;
  auto& kept = known->second;
  const auto found = std::ranges::find(
      kept, preface, [](const idle& each) -> std::string_view { return each.is.preface; });
  if (found == kept.end()) return nullptr;
  found->watching.cancel();
  auto taken = std::move(found->is.over);
  kept.erase(found);
  return taken;
}

void pool::give(pooled unused, loop::time_point limit, std::size_t most) {
  ended_.clear();
  if (most == 0) return;
  auto& kept = idle_[unused.to.get()];
  if (kept.size() >= most) kept.pop_back();
  kept.emplace_front().is = std::move(unused);
  kept.front().watching.spawn(watch(kept.begin(), limit));
}

std::unique_ptr<http::inquiry> pool::share(const backend& backend, std::string_view preface) {
  std::erase_if(shared_, [](const shared& each) { return each.over->is_over(); });
  for (const auto& each : shared_) {
    const bool is_fit =
        each.to.get() == &backend && each.preface == preface && each.over->takes_more();
    if (is_fit) return each.over->open();
  }
  return nullptr;
}

void pool::keep(const std::shared_ptr<backend>& of, std::string preface,
                std::shared_ptr<http::http2_client> backend) {
  shared_.push_back({of, std::move(preface), std::move(backend)});
}

// Requests on shared connections are still answered.
void pool::forget(const backend& backend) {
  idle_.erase(&backend);
  for (const auto& each : shared_) {
    if (each.to.get() == &backend) each.over->retire();
  }
}

void pool::retain(const std::vector<std::shared_ptr<backend>>& used) {
  std::erase_if(idle_, [&used](const auto& kept) {
    const auto is_it = [&kept](const auto& each) { return each.get() == kept.first; };
    return std::ranges::none_of(used, is_it);
  });
  for (const auto& each : shared_) {
    if (std::ranges::find(used, each.to) == used.end()) each.over->retire();
  }
}

// It closes the connection, but only marks its entry for removal: this coroutine is stored there.
loop::task<> pool::watch(shelf::iterator iterator, loop::time_point limit) {
  co_await iterator->is.over->ended(limit);
  iterator->is.over.reset();
  ended_.splice(ended_.end(), idle_.at(iterator->is.to.get()), iterator);
}

std::size_t pool::size() const {
  auto all = shared_.size();
  for (const auto& [to, kept] : idle_) all += kept.size();
  return all;
}

}  // namespace strata::runtime::proxy
