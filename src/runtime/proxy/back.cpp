#include "runtime/proxy/back.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "net/scheme.hpp"

namespace strata::runtime::proxy {

namespace {

using back_ref = backs::back_ref;

constexpr std::uint64_t heaviest = 1000;

std::unexpected<error> refuse(const std::string& text, std::string reason) {
  return failure(errc::invalid_argument, "use backend '" + text + "'", std::move(reason),
                 "write HOST:PORT, a URL or a runtime's name, and behind a blank weight=N or "
                 "backup");
}

std::string as_url(const std::string& where) {
  if (where.contains("://")) return where;
  return (where.contains(':') ? "tcp://" : "runtime://") + where;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    if (end != at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool read_weight(std::string_view word, std::uint64_t& weight) {
  constexpr std::string_view key = "weight=";
  if (!word.starts_with(key)) return false;
  word.remove_prefix(key.size());
  const auto* const end = word.data() + word.size();
  const auto [last, code] = std::from_chars(word.data(), end, weight);
  return code == std::errc{} && last == end && weight >= 1 && weight <= heaviest;
}

/// 0 to 2^64 - 1, for one client and one back always the same (the finalizer of MurmurHash3).
std::uint64_t mixed(std::uint64_t of) {
  of ^= of >> 33U;
  of *= 0xff51afd7ed558ccdULL;
  of ^= of >> 33U;
  of *= 0xc4ceb9fe1a85ec53ULL;
  return of ^ (of >> 33U);
}

// In turn, and evenly: of weights 5, 1 and 1 not five in a row (as nginx does it).
back_ref in_turn(const std::vector<back_ref>& of) {
  std::int64_t sum = 0;
  back_ref best;
  for (const auto& each : of) {
    const auto weight = static_cast<std::int64_t>(each->is.weight);
    each->turn += weight;
    sum += weight;
    if (!best || each->turn > best->turn) best = each;
  }
  best->turn -= sum;
  return best;
}

back_ref at_random(const std::vector<back_ref>& of) {
  thread_local std::minstd_rand draw{std::random_device{}()};
  std::uint64_t sum = 0;
  for (const auto& each : of) sum += each->is.weight;
  auto drawn = std::uniform_int_distribution<std::uint64_t>(0, sum - 1)(draw);
  for (const auto& each : of) {
    if (drawn < each->is.weight) return each;
    drawn -= each->is.weight;
  }
  return of.back();
}

// Among equals in turn, so that a proxy at rest does not always begin with the same one.
back_ref least_loaded(const std::vector<back_ref>& of) {
  const auto load = [](const back_ref& one) {
    return static_cast<double>(one->connections) / static_cast<double>(one->is.weight);
  };
  const auto lightest = std::ranges::min(of, {}, load);
  std::vector<back_ref> equals;
  for (const auto& each : of) {
    if (load(each) == load(lightest)) equals.push_back(each);
  }
  return in_turn(equals);
}

// Rendezvous hashing: when a back comes or goes, the clients of no other move.
back_ref by_source(const std::vector<back_ref>& of, const loop::socket_address& source) {
  auto address = source;
  address.set_port(0);
  back_ref best;
  double best_score = -std::numeric_limits<double>::infinity();
  for (const auto& each : of) {
    const auto hash = mixed(address.hash() ^ mixed(std::hash<std::string>{}(each->is.text)));
    const auto share = (static_cast<double>(hash) + 1) / 18446744073709551616.0;
    const auto score = static_cast<double>(each->is.weight) / -std::log(share);
    if (!best || score > best_score) {
      best = each;
      best_score = score;
    }
  }
  return best;
}

}  // namespace

result<back_text> parse_back(const std::string& text) {
  const auto words = words_of(text);
  if (words.empty()) return refuse(text, "it names no place");
  auto url = net::parse_connecting(as_url(words.front()));
  if (!url) return std::unexpected(url.error());
  if (url->is_web()) return refuse(text, "HTTP is not spoken with backs: tcp and tls carry it");
  if (!url->is_stream()) return refuse(text, "it is no stream");
  if (url->has_port() && url->port == 0) return refuse(text, "port 0 is no port");
  back_text made{.text = text, .url = std::move(*url)};
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (words[at] == "backup") {
      made.is_backup = true;
    } else if (!read_weight(words[at], made.weight)) {
      return refuse(text, "'" + words[at] + "' is neither weight=N (1 to 1000) nor backup");
    }
  }
  return made;
}

balance balance_of(std::string_view text) {
  if (text == "random") return balance::random;
  if (text == "least") return balance::least;
  if (text == "first") return balance::first;
  return text == "source" ? balance::source : balance::round_robin;
}

void backs::become(const std::vector<std::string>& texts) {
  std::vector<back_ref> next;
  for (const auto& text : texts) {
    const auto known =
        std::ranges::find(all_, text, [](const back_ref& one) { return one->is.text; });
    next.push_back(known != all_.end() ? *known : std::make_shared<back>(*parse_back(text)));
  }
  all_ = std::move(next);
}

back_ref backs::choose(balance how, const loop::socket_address& source,
                       std::span<const back_ref> tried, loop::time_point now) {
  for (const bool may_rest : {false, true}) {
    for (const bool is_backup : {false, true}) {
      std::vector<back_ref> left;
      for (const auto& each : all_) {
        const bool was_tried = std::ranges::find(tried, each) != tried.end();
        const bool rests = each->rests_until > now;
        if (!was_tried && each->is.is_backup == is_backup && (may_rest || !rests)) {
          left.push_back(each);
        }
      }
      if (!left.empty()) return choose_of(how, source, left);
    }
  }
  return nullptr;
}

back_ref backs::choose_of(balance how, const loop::socket_address& source,
                          const std::vector<back_ref>& of) {
  switch (how) {
    case balance::round_robin: return in_turn(of);
    case balance::random: return at_random(of);
    case balance::least: return least_loaded(of);
    case balance::source: return by_source(of, source);
    case balance::first: break;
  }
  return of.front();
}

}  // namespace strata::runtime::proxy
