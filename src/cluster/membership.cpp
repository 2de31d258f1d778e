#include "cluster/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/within.hpp"
#include "text/readable.hpp"

namespace strata::cluster {

using namespace std::chrono_literals;

namespace {

constexpr double least_pause_s = 0.1;
// More than one update in this time is written as one.
constexpr loop::duration gathering = 50ms;

}  // namespace

std::string_view name_of(membership::state state) {
  switch (state) {
    case membership::state::joining: return "joining";
    case membership::state::held: return "held";
    case membership::state::unconfirmed: return "unconfirmed";
    case membership::state::conflict: return "conflict";
    case membership::state::left: return "left";
  }
  return "";
}

membership::membership(loop::loop& loop, registry& registry, settings settings,
                       std::function<void()> on_change,
                       std::function<void(const std::string&)> on_trouble)
    : loop_(loop),
      registry_(registry),
      settings_(std::move(settings)),
      on_change_(std::move(on_change)),
      on_trouble_(std::move(on_trouble)),
      confirmed_(loop.now()),
      holding_pauses_(settings_.pause_seed),
      reading_pauses_(settings_.pause_seed == 0 ? 0 : settings_.pause_seed + 1),
      changed_(loop) {}

membership::state membership::present_state() const {
  // At this very moment the registry may give the name to another daemon.
  const bool is_overdue = loop_.now() - renewed_ >= settings_.ttl;
  return state_ == state::held && is_overdue ? state::unconfirmed : state_;
}

void membership::begin() { tasks_.spawn(follow()); }

void membership::join(const card& card) {
  text_ = write_card(card);
  tasks_.spawn(hold());
}

void membership::update(const card& card) {
  auto text = write_card(card);
  if (text == text_ || handed_over_) return;
  write(std::move(text));
}

void membership::write(std::string text) {
  text_ = std::move(text);
  has_new_text_ = true;
  changed_.notify();
}

std::string membership::hand_over() {
  has_new_text_ = false;
  handed_over_ = state_ == state::held ? registry_.claim_key() : "";
  return *handed_over_;
}

void membership::take_back(const card& card) {
  handed_over_.reset();
  write(write_card(card));
}

loop::task<> membership::leave(loop::time_point limit) {
  tasks_.cancel();
  state_ = state::left;
  if (handed_over_ == registry_.claim_key()) {
    registry_.leave();
    co_return;
  }
  (void)co_await loop::within(loop_, registry_.release(), limit);
}

void membership::set_state(state next) {
  if (state_ == next) return;
  state_ = next;
  on_change_();
}

void membership::report_reading(const error& trouble) {
  auto text = describe(trouble);
  if (text == last_reading_trouble_) return;
  on_trouble_(text);
  last_reading_trouble_ = std::move(text);
}

void membership::set_trouble(std::string trouble) {
  if (trouble == trouble_) return;
  if (!trouble.empty()) on_trouble_(trouble);
  const bool has_turned = trouble.empty() != trouble_.empty();
  trouble_ = std::move(trouble);
  if (has_turned) on_change_();
}

loop::task<> membership::pause(net::backoff& pauses) {
  const auto longest_s = std::chrono::duration<double>(settings_.ttl).count() / 2;
  const auto span = pauses.next(least_pause_s, longest_s);
  co_await loop_.sleep(span);
}

// Takes the name, keeps it, and takes it again when it is lost.
loop::task<> membership::await_name() {
  has_become_free_ = false;
  const auto longest_s = std::chrono::duration<double>(settings_.ttl).count() / 2;
  const auto limit = loop_.now() + holding_pauses_.next(least_pause_s, longest_s);
  const bool is_free = co_await changed_.wait([this] { return has_become_free_; }, limit);
  (void)is_free;
}

loop::task<> membership::hold() {
  for (;;) {
    has_new_text_ = false;
    // The registry counts the time to live from some moment after this one.
    const auto asked = loop_.now();
    const auto claimed = co_await registry_.claim(settings_.daemon, text_);
    if (!claimed) {
      const bool is_taken = claimed.error().code == errc::conflict;
      set_state(is_taken ? state::conflict : state::joining);
      set_trouble(describe(claimed.error()));
      co_await await_name();
      continue;
    }
    holding_pauses_.succeeded();
    set_trouble({});
    renewed_ = asked;
    set_state(state::held);
    co_await keep();
    set_state(state::joining);
  }
}

// Returns when the claim has ended.
loop::task<> membership::keep() {
  auto due = loop_.now() + settings_.ttl / 3;
  for (;;) {
    const bool is_woken = co_await changed_.wait([this] { return has_new_text_; }, due);
    if (is_woken) co_await loop_.sleep(gathering);
    const auto asked = loop_.now();
    const auto prolonged = co_await prolong();
    if (prolonged) {
      if (!has_new_text_) {
        holding_pauses_.succeeded();
        set_trouble({});
      }
      renewed_ = asked;
      due = renewed_ + settings_.ttl / 3;
      continue;
    }
    set_trouble(describe(prolonged.error()));
    if (prolonged.error().code == errc::not_found) co_return;
    co_await pause(holding_pauses_);
    due = loop_.now();
  }
}

// A card that could not be written is written again: it is the newest that counts. Meanwhile a
// registry that is full may still keep the name.
loop::task<result<void>> membership::prolong() {
  if (!has_new_text_ || handed_over_) {
    auto renewed = co_await registry_.renew();
    co_return renewed;
  }
  has_new_text_ = false;
  auto written = co_await registry_.write(text_);
  if (written || written.error().code == errc::not_found) co_return written;
  has_new_text_ = true;
  set_trouble(describe(written.error()));
  auto renewed = co_await registry_.renew();
  if (renewed) co_await pause(holding_pauses_);
  co_return renewed;
}

loop::task<> membership::follow() {
  for (;;) {
    auto all = co_await registry_.read();
    if (!all) {
      report_reading(all.error());
      co_await pause(reading_pauses_);
      continue;
    }
    reading_pauses_.succeeded();
    last_reading_trouble_.clear();
    apply(*all);
    for (;;) {
      if (registry_.confirms_cards()) confirmed_ = loop_.now();
      const auto changes = co_await registry_.next(loop_.now() + settings_.ttl);
      if (!changes) break;
      bool has_changed = false;
      for (const auto& each : *changes) has_changed = apply(each) || has_changed;
      if (has_changed) on_change_();
    }
  }
}

void membership::apply(const card_texts& all) {
  const auto is_gone = [&all](const auto& entry) { return !all.contains(entry.first); };
  std::erase_if(cards_, is_gone);
  std::erase_if(texts_, is_gone);
  for (const auto& [daemon, text] : all) take(daemon, text);
  check_own_card();
  on_change_();
}

// A registry that was restored from a backup has an older card of this daemon, or none.
void membership::check_own_card() {
  if (state_ != state::held || has_new_text_ || handed_over_) return;
  const auto known = cards_.find(settings_.daemon);
  const auto own = read_card(text_);
  if (!own || (known != cards_.end() && known->second == *own)) return;
  has_new_text_ = true;
  changed_.notify();
}

bool membership::apply(const card_change& change) {
  if (change.text) return take(change.daemon, *change.text);
  if (change.daemon == settings_.daemon) {
    has_become_free_ = true;
    changed_.notify();
  }
  texts_.erase(change.daemon);
  return cards_.erase(change.daemon) != 0;
}

// Most texts of a registry that is read again are known, and comparing them costs less than reading
// them. A card under another's name is a stranger's.
bool membership::take(const std::string& daemon, const std::string& text) {
  const auto [place, is_new] = texts_.try_emplace(daemon, text);
  if (!is_new && place->second == text) return false;
  place->second = text;
  auto read = read_card(text);
  if (read && read->daemon == daemon) {
    auto& known = cards_[daemon];
    if (known == *read) return false;
    known = std::move(*read);
    return true;
  }
  on_trouble_(fmt::format("the card of '{}' is not used: {}",
                          text::shortened(text::printable(daemon), longest_name),
                          read ? "it names another daemon" : describe(read.error())));
  return cards_.erase(daemon) != 0;
}

}  // namespace strata::cluster
