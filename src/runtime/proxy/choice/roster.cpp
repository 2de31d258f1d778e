#include "runtime/proxy/choice/roster.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace strata::runtime::proxy {

namespace {

using namespace std::chrono_literals;

constexpr loop::duration shortest_life = 1s;
constexpr loop::duration longest_life = 1h;
/// After a failed look-up.
constexpr loop::duration retry_interval = 2s;

backend_text backend_at(const backend_text& text, const sighting& seen) {
  auto made = text;
  made.url.host = seen.host;
  made.at = seen.at;
  made.is_group = false;
  const bool is_elsewhere = seen.host.contains('@');  // NAME@DAEMON
  const bool is_preferred =
      !is_elsewhere || (text.preferred == preference::zone && seen.is_neighbour);
  if (text.preferred != preference::none && !is_preferred) made.is_backup = true;
  return made;
}

}  // namespace

std::string roster::key_of(const entry& entry) const {
  return means_.route + "\n" + entry.text.where();
}

void roster::become(const std::vector<std::string>& texts) {
  std::vector<std::unique_ptr<entry>> next;
  for (const auto& text : texts) {
    auto read = *parse_backend(text);
    const auto known = std::ranges::find_if(entries_, [&read](const auto& one) {
      return one && one->text.is_group == read.is_group && one->text.is_spoken_to_as(read);
    });
    if (known == entries_.end()) {
      next.push_back(std::make_unique<entry>(std::move(read)));
      continue;
    }
    (*known)->text = std::move(read);
    next.push_back(std::move(*known));
  }
  for (const auto& each : entries_) {
    if (each && leads() && each->text.is_followed()) means_.shared.withdraw(key_of(*each));
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
    if (each->text.is_followed()) follow(*each);
  }
}

void roster::refresh() {
  if (take_found()) means_.on_change();
  looked_.notify();
}

bool roster::take_found() {
  bool has_changed = false;
  for (const auto& each : entries_) {
    if (!each->text.is_followed()) continue;
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
    if (each->text.is_followed()) {
      for (const auto& seen : each->found) all.push_back(backend_at(each->text, seen));
    } else {
      all.push_back(each->text);
    }
  }
  return all;
}

std::vector<backend_text> roster::unknown() const {
  std::vector<backend_text> all;
  for (const auto& each : entries_) {
    if (each->text.is_followed() && each->found.empty()) all.push_back(each->text);
  }
  return all;
}

bool roster::is_looking() const {
  return std::ranges::any_of(
      entries_, [](const auto& each) { return each->text.is_followed() && !each->was_looked_up; });
}

loop::task<> roster::looked(loop::time_point limit) {
  co_await looked_.wait([this] { return !is_looking(); }, limit);
}

void roster::follow(entry& entry) {
  if (entry.text.url.has_port()) {
    if (entry.looking.empty()) entry.looking.spawn(follow_host(entry));
    return;
  }
  if (entry.members != nullptr) return;
  entry.members = means_.names.watch_members(
      means_.home, means_.self, entry.text.is_group ? entry.text.where() : entry.text.url.host,
      [this, &entry](net::place_members members) { take_members(entry, std::move(members)); });
}

loop::task<> roster::follow_host(entry& entry) {
  // Yields first: the caller is not done yet.
  co_await means_.home.sleep(loop::duration::zero());
  for (;;) {
    auto seen = co_await look_up(entry.text);
    auto pause = retry_interval;
    if (seen) {
      pause = seen->good_for;
      take_sightings(entry, std::move(seen->found));
    } else {
      take_trouble(entry, seen.error());
    }
    co_await means_.home.sleep(pause);
  }
}

void roster::take_members(entry& entry, net::place_members members) {
  for (const auto& each : members.circular) {
    if (std::ranges::find(entry.circular, each) == entry.circular.end()) {
      means_.on_circle(entry.text, each);
    }
  }
  entry.circular = std::move(members.circular);
  std::vector<sighting> found;
  found.reserve(members.names.size());
  for (auto& each : members.names) {
    const bool is_neighbour =
        std::ranges::find(members.neighbours, each) != members.neighbours.end();
    found.push_back({.host = std::move(each), .at = std::nullopt, .is_neighbour = is_neighbour});
  }
  take_sightings(entry, std::move(found));
}

void roster::take_sightings(entry& entry, std::vector<sighting> sightings) {
  if (std::exchange(entry.is_lost, false)) means_.shared.set_trouble(key_of(entry), {});
  const bool has_changed = entry.found != sightings;
  entry.found = std::move(sightings);
  publish(entry, has_changed);
}

void roster::take_trouble(entry& entry, const error& why) {
  if (!std::exchange(entry.is_lost, true)) {
    means_.on_trouble(entry.text, why);
    means_.shared.set_trouble(key_of(entry), "backend '" + entry.text.text + "': " + describe(why));
  }
  publish(entry, false);
}

void roster::publish(entry& entry, bool has_changed) {
  const bool is_first = !std::exchange(entry.was_looked_up, true);
  if (!is_first && !has_changed) return;
  means_.shared.publish(means_.number, key_of(entry), entry.found);
  means_.on_change();
  if (is_first) looked_.notify();
}

loop::task<result<roster::look>> roster::look_up(backend_text text) {
  const auto records = co_await means_.home.resolve_records(text.url.host, text.url.port);
  if (!records) co_return std::unexpected(records.error());
  look look{.found = {},
            .good_for = std::clamp<loop::duration>(records->lifetime, shortest_life, longest_life)};
  for (const auto& each : records->addresses) {
    look.found.push_back({.host = text.url.host, .at = each});
  }
  // Name servers rotate the order with each answer.
  std::ranges::sort(look.found, {}, [](const sighting& each) { return each.at->text(); });
  co_return look;
}

}  // namespace strata::runtime::proxy
