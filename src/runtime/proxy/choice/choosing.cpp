#include "runtime/proxy/choice/choosing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "proto/token.hpp"
#include "runtime/proxy/choice/mixing.hpp"
#include "text/word.hpp"

namespace strata::runtime::proxy {

namespace {

// Smooth weighted round-robin: with weights 5, 1 and 1 not five in a row (as in nginx).
backend_ref in_turn(const std::vector<backend_ref>& backends, const wish& wish) {
  std::int64_t sum = 0;
  backend_ref best;
  for (const auto& each : backends) {
    const auto weight = static_cast<std::int64_t>(weight_of(*each, wish));
    each->turn += weight;
    sum += weight;
    if (!best || each->turn > best->turn) best = each;
  }
  best->turn -= sum;
  return best;
}

backend_ref at_random(const std::vector<backend_ref>& backends, const wish& wish) {
  thread_local std::minstd_rand draw{std::random_device{}()};
  std::uint64_t sum = 0;
  for (const auto& each : backends) sum += weight_of(*each, wish);
  auto drawn = std::uniform_int_distribution<std::uint64_t>(0, sum - 1)(draw);
  for (const auto& each : backends) {
    const auto weight = weight_of(*each, wish);
    if (drawn < weight) return each;
    drawn -= weight;
  }
  return backends.back();
}

// Round-robin among equals, so that an idle proxy does not always begin with the same one.
backend_ref least_loaded(const std::vector<backend_ref>& backends, const wish& wish) {
  const auto load = [&wish](const backend_ref& one) {
    return static_cast<double>(one->connections()) / static_cast<double>(weight_of(*one, wish));
  };
  const auto lightest = std::ranges::min(backends, {}, load);
  std::vector<backend_ref> equals;
  for (const auto& each : backends) {
    if (load(each) == load(lightest)) equals.push_back(each);
  }
  return in_turn(equals, wish);
}

/// Detects a backend with more than its share of all connections, and without a limit of its own.
class overload {
 public:
  overload(const std::vector<backend_ref>& backends, const wish& wish) : what_(wish) {
    for (const auto& each : backends) {
      connections_ += static_cast<double>(each->connections());
      weights_ += static_cast<double>(weight_of(*each, wish));
    }
  }
  [[nodiscard]] bool is_of(const backend& one) const {
    constexpr std::uint64_t no_pile = 16;
    constexpr double most_of_mean = 1.25;
    if (one.is.max != 0 || one.connections() < no_pile) return false;
    const auto share = static_cast<double>(weight_of(one, what_)) / weights_;
    return static_cast<double>(one.connections()) > most_of_mean * connections_ * share;
  }

 private:
  const wish& what_;
  double connections_ = 0;
  double weights_ = 0;
};

// Rendezvous hashing: when a backend is added or removed, only its own clients move.
backend_ref by_hash(const std::vector<backend_ref>& backends, const wish& wish) {
  const overload loads(backends, wish);
  backend_ref best;
  double best_score = -std::numeric_limits<double>::infinity();
  for (const auto& each : backends) {
    if (loads.is_of(*each)) continue;
    const auto hash = mixed(wish.key ^ each->mark);
    const auto share = (static_cast<double>(hash) + 1) / 18446744073709551616.0;
    const auto score = static_cast<double>(weight_of(*each, wish)) / -std::log(share);
    if (!best || score > best_score) {
      best = each;
      best_score = score;
    }
  }
  return best;
}

bool has_mark(const backend& one, const wish& wish) {
  return std::ranges::find(wish.marks, one.mark) != wish.marks.end();
}

bool is_ready(const backend& one, loop::time_point now) {
  const auto& stands = *one.stands;
  return stands.rests_until.get() <= now && !stands.is_down.load(std::memory_order_relaxed) &&
         stands.current.lets_in(now);
}

/// Whether too few backends are ready for the load: then it is better to try all.
bool is_panic(std::span<const backend_ref> all, const wish& wish) {
  if (wish.panic == 0) return false;
  std::uint64_t ready = 0;
  std::uint64_t whole = 0;
  for (const auto& each : all) {
    if (each->is.is_drained) continue;
    whole += each->is.weight;
    if (is_ready(*each, wish.now)) ready += each->is.weight;
  }
  return ready * 100 < wish.panic * whole;
}

}  // namespace

result<balancing> parse_balance(const std::string& text) {
  constexpr std::pair<std::string_view, balance> plain[] = {{"round-robin", balance::round_robin},
                                                            {"random", balance::random},
                                                            {"least", balance::least},
                                                            {"first", balance::first},
                                                            {"source", balance::source},
                                                            {"path", balance::path}};
  for (const auto& [name, how] : plain) {
    if (text == name) return balancing{.how = how, .name = {}};
  }
  constexpr std::pair<std::string_view, balance> named[] = {{"header:", balance::header},
                                                            {"cookie:", balance::cookie}};
  for (const auto& [key, how] : named) {
    if (!text.starts_with(key)) continue;
    const auto name = text.substr(key.size());
    if (!proto::is_token(name)) break;
    return balancing{how, how == balance::header ? text::in_small_letters(name) : name};
  }
  return failure(errc::invalid_argument, "use --balance '" + text + "'",
                 "it is not a way to balance",
                 "write round-robin, random, least, first, source, path, header:NAME or "
                 "cookie:NAME");
}

bool is_of_requests(balance balance) {
  return balance == balance::header || balance == balance::cookie || balance == balance::path;
}

std::uint64_t key_of(const loop::socket_address& source) {
  auto address = source;
  address.set_port(0);
  return address.hash();
}

std::uint64_t weight_of(const backend& one, const wish& wish) {
  constexpr std::int64_t whole = 100;
  constexpr std::int64_t first = 10;
  auto percent = whole;
  const auto came = one.stands->came.get();
  // Another loop's clock may be ahead of this one's.
  const auto since = std::max(wish.now - came, loop::duration::zero());
  if (came != loop::time_point{} && since < wish.slow_start) {
    const auto part =
        static_cast<double>(since.count()) / static_cast<double>(wish.slow_start.count());
    percent = first + static_cast<std::int64_t>(static_cast<double>(whole - first) * part);
  }
  return one.is.weight * static_cast<std::uint64_t>(percent);
}

std::uint64_t key_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

candidates candidates_of(std::span<const backend_ref> all, const wish& wish) {
  candidates found{.is_panic = is_panic(all, wish)};
  const auto is_usable = [&](const backend_ref& one, bool may_be_ill) {
    const bool was_tried = std::ranges::find(wish.tried, one) != wish.tried.end();
    return !was_tried && !one->is.is_drained && (may_be_ill || is_ready(*one, wish.now));
  };
  const auto add = [&found](const backend_ref& one) {
    if (one->is_full()) {
      found.are_full = true;
    } else {
      found.of.push_back(one);
    }
  };
  for (const auto& each : all) {
    if (!is_usable(each, found.is_panic) || !has_mark(*each, wish)) continue;
    add(each);
    return found;
  }
  for (const bool may_be_ill : {found.is_panic, true}) {
    for (const bool is_backup : {false, true}) {
      for (const auto& each : all) {
        if (each->is.is_backup == is_backup && is_usable(each, may_be_ill)) add(each);
      }
      if (found.of.empty()) continue;
      found.are_full = false;
      return found;
    }
    // A healthy backend that is full is waited for, rather than using an unhealthy one.
    if (found.are_full) break;
  }
  return found;
}

backend_ref choose(const std::vector<backend_ref>& backends, const wish& wish) {
  switch (wish.how) {
    case balance::round_robin: return in_turn(backends, wish);
    case balance::random: return at_random(backends, wish);
    case balance::least: return least_loaded(backends, wish);
    case balance::source:
    case balance::header:
    case balance::cookie:
    case balance::path: return by_hash(backends, wish);
    case balance::first: break;
  }
  return backends.front();
}

}  // namespace strata::runtime::proxy
