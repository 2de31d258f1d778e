#include "runtime/proxy/choice/roster.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace strata::runtime::proxy {

namespace {

using namespace std::chrono_literals;

constexpr loop::duration group_interval = 1s;
constexpr loop::duration shortest_life = 1s;
constexpr loop::duration longest_life = 1h;
/// After a failed look-up.
constexpr loop::duration retry_interval = 2s;

backend_text backend_at(const backend_text& text, const sighting& seen) {
  auto made = text;
  made.url.host = seen.host;
  made.at = seen.at;
  made.is_group = false;
  return made;
}

}  // namespace

std::string roster::key_of(const entry& entry) const {
  return means_.route + "\n" + entry.is.where();
}

void roster::become(const std::vector<std::string>& texts) {
  std::vector<std::unique_ptr<entry>> next;
  for (const auto& text : texts) {
    auto read = *parse_backend(text);
    const auto known = std::ranges::find_if(entries_, [&read](const auto& one) {
      return one && one->is.is_group == read.is_group && one->is.is_spoken_to_as(read);
    });
    if (known == entries_.end()) {
      next.push_back(std::make_unique<entry>(std::move(read)));
      continue;
    }
    (*known)->is = std::move(read);
    next.push_back(std::move(*known));
  }
  for (const auto& each : entries_) {
    if (each && leads() && each->is.is_followed()) means_.shared.withdraw(key_of(*each));
  }
  entries_ = std::move(next);
  if (has_begun_) follow_new_ones();
  if (!leads()) take_found();
  looked_.notify();
}

void roster::begin() {
  has_begun_ = true;
  follow_new_ones();
}

void roster::follow_new_ones() {
  if (!leads()) return;
  for (const auto& each : entries_) {
    if (each->is.is_followed() && each->following.empty()) each->following.spawn(follow(*each));
  }
}

void roster::refresh() {
  if (take_found()) means_.on_change();
  looked_.notify();
}

bool roster::take_found() {
  bool has_changed = false;
  for (const auto& each : entries_) {
    if (!each->is.is_followed()) continue;
    auto found = means_.shared.found(key_of(*each));
    if (!found) continue;
    const bool is_first = !std::exchange(each->was_looked_up, true);
    has_changed = has_changed || is_first || each->found != *found;
    each->found = std::move(*found);
  }
  return has_changed;
}

std::vector<backend_text> roster::all() const {
  std::vector<backend_text> all;
  for (const auto& each : entries_) {
    if (each->is.is_followed()) {
      for (const auto& seen : each->found) all.push_back(backend_at(each->is, seen));
    } else {
      all.push_back(each->is);
    }
  }
  return all;
}

std::vector<backend_text> roster::unknown() const {
  std::vector<backend_text> all;
  for (const auto& each : entries_) {
    if (each->is.is_followed() && each->found.empty()) all.push_back(each->is);
  }
  return all;
}

bool roster::is_looking() const {
  return std::ranges::any_of(
      entries_, [](const auto& each) { return each->is.is_followed() && !each->was_looked_up; });
}

loop::task<> roster::looked(loop::time_point limit) {
  co_await looked_.wait([this] { return !is_looking(); }, limit);
}

loop::task<> roster::follow(entry& entry) {
  // Yields first: the caller is not done yet.
  co_await means_.home.sleep(loop::duration::zero());
  for (;;) {
    const auto of = entry.is;
    auto seen = co_await look_up(of);
    auto pause = retry_interval;
    const bool is_first = !std::exchange(entry.was_looked_up, true);
    bool has_changed = is_first;
    const bool was_lost = std::exchange(entry.is_lost, !seen.has_value());
    if (seen) {
      pause = seen->good_for;
      for (const auto& each : seen->circular) {
        if (std::ranges::find(entry.circular, each) == entry.circular.end()) {
          means_.on_circle(of, each);
        }
      }
      entry.circular = std::move(seen->circular);
      if (entry.found != seen->found) {
        entry.found = std::move(seen->found);
        has_changed = true;
      }
    } else if (!was_lost) {
      means_.on_trouble(of, seen.error());
      means_.shared.set_trouble(key_of(entry),
                                "backend '" + of.text + "': " + describe(seen.error()));
    }
    if (seen && was_lost) means_.shared.set_trouble(key_of(entry), {});
    if (has_changed) {
      means_.shared.publish(means_.number, key_of(entry), entry.found);
      means_.on_change();
    }
    if (is_first) looked_.notify();
    co_await means_.home.sleep(pause);
  }
}

loop::task<result<roster::look>> roster::look_up(const backend_text& text) {
  look made{.found = {}, .circular = {}, .good_for = group_interval};
  if (text.is_group) {
    auto members = co_await means_.names.find_members(means_.home, means_.self, text.url.host);
    for (auto& each : members.names) {
      made.found.push_back({.host = std::move(each), .at = std::nullopt});
    }
    made.circular = std::move(members.circular);
    co_return made;
  }
  const auto found = co_await means_.home.resolve_records(text.url.host, text.url.port);
  if (!found) co_return std::unexpected(found.error());
  made.good_for = std::clamp<loop::duration>(found->lifetime, shortest_life, longest_life);
  for (const auto& each : found->addresses) {
    made.found.push_back({.host = text.url.host, .at = each});
  }
  // Name servers rotate the order with each answer.
  std::ranges::sort(made.found, {}, [](const sighting& each) { return each.at->text(); });
  co_return made;
}

}  // namespace strata::runtime::proxy
