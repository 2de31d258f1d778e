#include "runtime/proxy/pool.hpp"

#include <algorithm>

namespace strata::runtime::proxy {

std::unique_ptr<http::inquiry> pool::take(const back& of, std::string_view preface) {
  sweep();
  const auto found = std::ranges::find_if(idle_, [&](const idle& each) {
    return each.is.to.get() == &of && each.is.preface == preface;
  });
  if (found == idle_.end()) return nullptr;
  found->watching.cancel();
  auto taken = std::move(found->is.over);
  idle_.erase(found);
  return taken;
}

void pool::give(pooled unused, loop::time_point limit, std::size_t most) {
  sweep();
  if (most == 0) return;
  const auto is_same = [&unused](const idle& each) { return each.is.to == unused.to; };
  if (static_cast<std::size_t>(std::ranges::count_if(idle_, is_same)) >= most) {
    idle_.erase(std::next(std::find_if(idle_.rbegin(), idle_.rend(), is_same)).base());
  }
  auto& made = idle_.emplace_front();
  made.is = std::move(unused);
  made.watching.spawn(watch(made, limit));
}

std::unique_ptr<http::inquiry> pool::share(const back& of, std::string_view preface) {
  sweep();
  for (const auto& each : shared_) {
    const bool is_fit = each.to.get() == &of && each.preface == preface && each.over->takes_more();
    if (is_fit) return each.over->open();
  }
  return nullptr;
}

void pool::keep(const std::shared_ptr<back>& of, std::string preface,
                std::shared_ptr<http::http2_client> over) {
  shared_.push_back({of, std::move(preface), std::move(over)});
}

// What is asked on those that are shared is answered.
void pool::forget(const back& of) {
  std::erase_if(idle_, [&of](const idle& each) { return each.is.to.get() == &of; });
  for (const auto& each : shared_) {
    if (each.to.get() == &of) each.over->retire();
  }
}

void pool::retain(const std::vector<std::shared_ptr<back>>& used) {
  std::erase_if(idle_, [&used](const idle& each) {
    return std::ranges::find(used, each.is.to) == used.end();
  });
  for (const auto& each : shared_) {
    if (std::ranges::find(used, each.to) == used.end()) each.over->retire();
  }
}

// It closes the connection, and leaves its place to be swept: it runs in there itself.
loop::task<> pool::watch(idle& of, loop::time_point limit) {
  co_await of.is.over->ended(limit);
  of.is.over.reset();
}

void pool::sweep() {
  std::erase_if(idle_, [](const idle& each) { return each.is.over == nullptr; });
  std::erase_if(shared_, [](const shared& each) { return each.over->is_over(); });
}

}  // namespace strata::runtime::proxy
