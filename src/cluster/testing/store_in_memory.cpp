#include "cluster/testing/store_in_memory.hpp"

#include <algorithm>
#include <utility>

#include "loop/condition.hpp"
#include "text/number.hpp"

namespace strata::cluster {

using namespace std::chrono_literals;

namespace {

constexpr auto call_limit = 2s;

std::unexpected<error> unanswered() {
  return failure(errc::timed_out, "ask the store", "it does not answer", "");
}

std::unexpected<error> behind(const char* reason) {
  return failure(errc::connection_closed, "watch the store", reason, "");
}

std::unexpected<error> full() {
  return failure(errc::no_space, "write to the store", "it is full", "");
}

std::unexpected<error> ended() {
  return failure(errc::not_found, "hold a name", "the claim has ended", "");
}

}  // namespace

class registry_in_memory final : public registry {
 public:
  registry_in_memory(loop::loop& loop, store_in_memory& store, loop::duration ttl,
                     std::function<double()> chance)
      : loop_(loop),
        store_(store),
        ttl_(ttl),
        chance_(std::move(chance)),
        changed_(std::make_shared<loop::condition>(loop)) {}
  registry_in_memory(const registry_in_memory&) = delete;
  registry_in_memory& operator=(const registry_in_memory&) = delete;
  ~registry_in_memory() override { store_.remove(*this); }

  link_faults faults;

  loop::task<result<void>> claim(std::string daemon, std::string text) override {
    daemon_ = std::move(daemon);
    // One whose answer was lost may have been made: it is tried again.
    if (number_ == 0) number_ = store_.next_number();
    auto claimed = co_await call([&] { return store_.claim(daemon_, number_, text, ttl_); });
    forget_ended(claimed);
    co_return claimed;
  }
  loop::task<result<void>> renew() override {
    auto renewed =
        co_await call([&] { return store_.renew(daemon_, number_, std::nullopt, ttl_); });
    forget_ended(renewed);
    co_return renewed;
  }
  loop::task<result<void>> write(std::string text) override {
    auto written = co_await call([&] { return store_.renew(daemon_, number_, text, ttl_); });
    forget_ended(written);
    co_return written;
  }
  loop::task<result<void>> release() override {
    const auto number = std::exchange(number_, 0);
    co_return co_await call([&]() -> result<void> {
      store_.release(daemon_, number);
      return {};
    });
  }
  [[nodiscard]] std::string claim_key() const override { return std::to_string(number_); }
  void adopt(const std::string& key) override {
    number_ = text::number_in<std::int64_t>(key).value_or(0);
  }
  void leave() override { number_ = 0; }

  loop::task<result<card_texts>> read() override {
    card_texts cards;
    const auto answered = co_await call([&]() -> result<void> {
      cards = store_.cards();
      position_ = store_.history().size();
      restarts_ = store_.restarts();
      is_silent_ = false;
      return {};
    });
    if (!answered) co_return std::unexpected(answered.error());
    co_return cards;
  }
  loop::task<result<std::vector<card_change>>> next(loop::time_point limit) override;

  /// Something has changed in the store: the registry learns of it when this loop runs.
  void notify() {
    loop_.post([changed = std::weak_ptr(changed_)] {
      if (const auto present = changed.lock()) present->notify();
    });
  }

 private:
  template <class Deed>
  loop::task<result<void>> call(Deed deed) {
    co_await travel();
    if (is_lost(faults.loses_requests)) {
      co_await loop_.sleep(call_limit);
      co_return unanswered();
    }
    store_.expire();
    result<void> answer = deed();
    co_await travel();
    if (is_lost(faults.loses_answers)) {
      co_await loop_.sleep(call_limit);
      co_return unanswered();
    }
    co_return answer;
  }
  [[nodiscard]] bool has_news() const {
    return faults.is_cut || store_.restarts() != restarts_ || position_ != store_.history().size();
  }
  result<std::vector<card_change>> take();
  loop::task<> travel() {
    const auto span = std::chrono::duration_cast<loop::duration>(faults.slowest * chance_());
    co_await loop_.sleep(span);
  }
  [[nodiscard]] bool is_lost(double share) const { return faults.is_cut || chance_() < share; }
  void forget_ended(const result<void>& answer) {
    if (!answer && answer.error().code == errc::not_found) number_ = 0;
  }
  // A watch that is dead stays silent even after its way is mended.
  loop::task<result<void>> check_watch() {
    co_return co_await call([this]() -> result<void> {
      const bool is_level = position_ == store_.history().size() && restarts_ == store_.restarts();
      if (is_level) return {};
      return behind("changes were missed");
    });
  }

  loop::loop& loop_;
  store_in_memory& store_;
  const loop::duration ttl_;
  std::function<double()> chance_;
  std::shared_ptr<loop::condition> changed_;
  std::string daemon_;
  std::int64_t number_ = 0;   // of its claim
  std::size_t position_ = 0;  // in the store's history
  int restarts_ = 0;          // of the store, before the last read
  bool is_silent_ = false;    // its watch
};

loop::task<result<std::vector<card_change>>> registry_in_memory::next(loop::time_point limit) {
  is_silent_ = is_silent_ || faults.is_dead;
  if (is_silent_) {
    co_await loop_.sleep(std::max<loop::duration>(limit - loop_.now(), 1ms));
  } else if (co_await changed_->wait([this] { return has_news(); }, limit, 100ms)) {
    co_await travel();
    co_return take();
  }
  const auto checked = co_await check_watch();
  if (!checked) co_return std::unexpected(checked.error());
  co_return std::vector<card_change>{};
}

result<std::vector<card_change>> registry_in_memory::take() {
  if (store_.restarts() != restarts_) return behind("it has started again");
  if (faults.is_cut) return unanswered();
  if (position_ < store_.compacted()) return behind("its history is gone");
  std::vector<card_change> changes;
  is_silent_ = faults.is_dead;
  if (is_silent_) return changes;
  const auto& history = store_.history();
  const auto news = history.begin() + static_cast<std::ptrdiff_t>(position_);
  changes.assign(news, history.end());
  position_ = history.size();
  return changes;
}

card_store::access store_in_memory::connect(loop::loop& loop, loop::duration ttl,
                                            std::function<double()> chance) {
  auto made = std::make_unique<registry_in_memory>(loop, *this, ttl, std::move(chance));
  registries_.push_back(made.get());
  auto* const faults = &made->faults;
  return {.registry = std::move(made), .faults = faults};
}

card_texts store_in_memory::cards() const {
  card_texts texts;
  for (const auto& [daemon, holder] : holders_)
    texts.emplace_hint(texts.end(), daemon, holder.text);
  return texts;
}

store_in_memory::holder* store_in_memory::held(const std::string& daemon, std::int64_t number) {
  const auto place = holders_.find(daemon);
  return place != holders_.end() && place->second.number == number ? &place->second : nullptr;
}

result<void> store_in_memory::claim(const std::string& daemon, std::int64_t number,
                                    std::string text, loop::duration ttl) {
  if (ended_.contains(number)) return ended();
  const auto place = holders_.find(daemon);
  if (place != holders_.end()) {
    if (place->second.number == number) return renew(daemon, number, std::move(text), ttl);
    return failure(errc::conflict, "take a name", "another holds it", "");
  }
  if (is_full_) return full();
  if (on_claim) on_claim(daemon);
  holders_[daemon] = {.number = number, .ttl = ttl, .end = clock_() + ttl, .text = text};
  first_end_ = std::min(first_end_, clock_() + ttl);
  note({.daemon = daemon, .text = std::move(text)});
  return {};
}

result<void> store_in_memory::renew(const std::string& daemon, std::int64_t number,
                                    std::optional<std::string> text, loop::duration ttl) {
  auto* const holder = held(daemon, number);
  if (holder == nullptr) return ended();
  if (text && is_full_) return full();
  holder->end = clock_() + ttl;
  if (!text) return {};
  holder->text = *text;
  note({.daemon = daemon, .text = std::move(text)});
  return {};
}

void store_in_memory::release(const std::string& daemon, std::int64_t number) {
  if (held(daemon, number) != nullptr) end(daemon);
}

void store_in_memory::end(const std::string& daemon) {
  const auto place = holders_.find(daemon);
  ended_.insert(place->second.number);
  holders_.erase(place);
  note({.daemon = daemon, .text = std::nullopt});
}

void store_in_memory::expire() {
  if (clock_() < first_end_) return;
  std::vector<std::string> due;
  first_end_ = loop::time_point::max();
  for (const auto& [daemon, holder] : holders_) {
    if (holder.end <= clock_()) {
      due.push_back(daemon);
    } else {
      first_end_ = std::min(first_end_, holder.end);
    }
  }
  for (const auto& daemon : due) end(daemon);
}

void store_in_memory::back_up() {
  backup_ = {.holders = holders_, .history_size = history_.size(), .compacted = compacted_};
}

void store_in_memory::restore() {
  if (!backup_) return;
  holders_ = backup_->holders;
  first_end_ = clock_();
  for (auto& [daemon, holder] : holders_) {
    holder.end = clock_() + holder.ttl;
    ended_.erase(holder.number);
  }
  history_.resize(backup_->history_size);
  compacted_ = backup_->compacted;
  ++restarts_;
  notify();
}

void store_in_memory::note(card_change change) {
  history_.push_back(std::move(change));
  notify();
}

void store_in_memory::notify() {
  for (auto* const each : registries_) each->notify();
}

}  // namespace strata::cluster
