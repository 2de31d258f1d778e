#include "runtime/proxy/choice/shared_view.hpp"

#include <utility>

namespace strata::runtime::proxy {

void shared_view::enroll(std::size_t number, loop::loop& loop, std::function<void()> on_places,
                         std::function<void()> on_names) {
  auto& made = members_[number];
  made.on = &loop;
  made.on_places = std::move(on_places);
  made.on_names = std::move(on_names);
}

template <class Kept>
std::shared_ptr<Kept> shared_view::kept_in(register_of<Kept>& all, const std::string& key) {
  const std::scoped_lock held(lock_);
  std::erase_if(all, [](const auto& each) { return each.second.expired(); });
  auto& place = all[key];
  auto known = place.lock();
  if (!known) {
    known = std::make_shared<Kept>();
    place = known;
  }
  return known;
}

std::shared_ptr<standing> shared_view::backend_of(const std::string& key) {
  return kept_in(backends_, key);
}

std::shared_ptr<route_standing> shared_view::route_of(const std::string& key) {
  return kept_in(routes_, key);
}

bool shared_view::enter_queue(std::size_t number, std::uint64_t most) {
  auto now = waiting_.load();
  while (now < most) {
    if (!waiting_.compare_exchange_weak(now, now + 1)) continue;
    members_[number].waiting.fetch_add(1);
    return true;
  }
  return false;
}

void shared_view::leave_queue(std::size_t number) {
  members_[number].waiting.fetch_sub(1);
  waiting_.fetch_sub(1);
}

// A client that begins to wait is counted, and then looks for a place once more; a client that
// frees a place does so, and then looks for waiting ones: one of the two notices the other.
void shared_view::call_members(std::size_t number) {
  bool are_others_called = false;
  for (std::size_t at = 0; at < members_.size(); ++at) {
    auto& each = members_[at];
    if (at == number || each.waiting.load() == 0) continue;
    are_others_called = true;
    each.on->post([&each] { each.on_places(); });
  }
  auto& own = members_[number];
  if (own.waiting.load() == 0) return;
  if (are_others_called) {
    own.on->post([&own] { own.on_places(); });
  } else {
    own.on_places();
  }
}

void shared_view::publish(std::size_t number, const std::string& name,
                          std::vector<sighting> sightings) {
  {
    const std::scoped_lock held(lock_);
    names_[name] = std::move(sightings);
  }
  for (std::size_t at = 0; at < members_.size(); ++at) {
    auto& each = members_[at];
    if (at != number) each.on->post([&each] { each.on_names(); });
  }
}

void shared_view::withdraw(const std::string& name) {
  const std::scoped_lock held(lock_);
  names_.erase(name);
  troubles_.erase(name);
}

void shared_view::set_trouble(const std::string& name, std::string reason) {
  const std::scoped_lock held(lock_);
  if (reason.empty()) {
    troubles_.erase(name);
  } else {
    troubles_[name] = std::move(reason);
  }
}

std::string shared_view::trouble() const {
  const std::scoped_lock held(lock_);
  return troubles_.empty() ? std::string() : troubles_.begin()->second;
}

std::optional<std::vector<sighting>> shared_view::found(const std::string& name) const {
  const std::scoped_lock held(lock_);
  const auto known = names_.find(name);
  if (known == names_.end()) return std::nullopt;
  return known->second;
}

}  // namespace strata::runtime::proxy
