#include "runtime/proxy/roster.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace strata::runtime::proxy {

namespace {

using namespace std::chrono_literals;

constexpr loop::duration group_interval = 1s;
constexpr loop::duration shortest_life = 1s;
constexpr loop::duration longest_life = 1h;
/// After a look-up that has failed.
constexpr loop::duration retry_interval = 2s;

bool are_same(const std::vector<back_text>& some, const std::vector<back_text>& others) {
  return std::ranges::equal(some, others, {}, &back_text::where, &back_text::where);
}

}  // namespace

void roster::become(const std::vector<std::string>& texts) {
  std::vector<std::unique_ptr<entry>> next;
  for (const auto& text : texts) {
    auto read = *parse_back(text);
    const auto known = std::ranges::find_if(entries_, [&read](const auto& one) {
      return one && one->is.is_group == read.is_group && one->is.is_spoken_to_as(read);
    });
    if (known == entries_.end()) {
      next.push_back(std::make_unique<entry>(std::move(read)));
      continue;
    }
    // What is said of the back may be something else, as its weight.
    for (auto& each : (*known)->found) {
      auto changed = read;
      changed.url = each.url;
      changed.at = each.at;
      changed.is_group = false;
      each = std::move(changed);
    }
    (*known)->is = std::move(read);
    next.push_back(std::move(*known));
  }
  entries_ = std::move(next);
  for (const auto& each : entries_) {
    if (each->is.is_followed() && each->following.empty()) each->following.spawn(follow(*each));
  }
  looked_.notify();
}

std::vector<back_text> roster::all() const {
  std::vector<back_text> all;
  for (const auto& each : entries_) {
    if (each->is.is_followed()) {
      all.insert(all.end(), each->found.begin(), each->found.end());
    } else {
      all.push_back(each->is);
    }
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

loop::task<> roster::follow(entry& which) {
  // The one that begins this is not done yet.
  co_await means_.home.sleep(loop::duration::zero());
  for (;;) {
    const auto of = which.is;
    auto seen = co_await look_up(of);
    auto pause = retry_interval;
    const bool is_first = !std::exchange(which.was_looked_up, true);
    bool has_changed = is_first;
    const bool was_lost = std::exchange(which.is_lost, !seen.has_value());
    if (seen) {
      pause = seen->good_for;
      if (!are_same(which.found, seen->backs)) {
        which.found = std::move(seen->backs);
        has_changed = true;
      }
    } else if (!was_lost) {
      means_.on_trouble(of, seen.error());
    }
    if (has_changed) means_.on_change();
    if (is_first) looked_.notify();
    co_await means_.home.sleep(pause);
  }
}

loop::task<result<roster::sighting>> roster::look_up(const back_text& of) {
  sighting made{.backs = {}, .good_for = group_interval};
  if (of.is_group) {
    const auto names = co_await means_.names.find_members(means_.home, of.url.host);
    for (const auto& each : names) {
      if (each == means_.self) continue;
      made.backs.push_back(of);
      made.backs.back().url.host = each;
      made.backs.back().is_group = false;
    }
    co_return made;
  }
  const auto found = co_await means_.home.resolve_records(of.url.host, of.url.port);
  if (!found) co_return std::unexpected(found.error());
  made.good_for = std::clamp<loop::duration>(found->lifetime, shortest_life, longest_life);
  for (const auto& each : found->addresses) {
    made.backs.push_back(of);
    made.backs.back().at = each;
  }
  // Name servers turn the order with each answer.
  std::ranges::sort(made.backs, {}, &back_text::where);
  co_return made;
}

}  // namespace strata::runtime::proxy
