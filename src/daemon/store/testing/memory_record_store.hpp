// For tests: a store in memory that blocks, fails, loses answers and repeats notifications.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/record_store.hpp"
#include "loop/condition.hpp"
#include "loop/loop.hpp"

namespace strata::daemon {

/// The stored data. It outlives the stores on it, as a disk or a cluster outlives daemons.
struct memory_records {
  std::map<std::string, record> records;
  std::uint64_t revision = 0;
  std::vector<std::pair<std::uint64_t, std::string>> history;  ///< revision and name

  void put(record next) {
    next.revision = ++revision;
    history.emplace_back(revision, next.name);
    records[next.name] = next;
  }
  void erase(const std::string& name) {
    if (records.erase(name) == 0) return;
    history.emplace_back(++revision, name);
  }
};

/// Probabilities from 0 to 1, each tried per call.
struct store_faults {
  double refusal = 0;                 ///< the change is not made, and the answer is an error
  double lost_answer = 0;             ///< the change is made, and the answer is an error
  double repetition = 0;              ///< a change is reported again, and late
  double forgetting = 0;              ///< the history of changes is lost
  loop::duration longest_delay = {};  ///< before the change, and before the answer
};

class memory_record_store final : public record_store {
 public:
  memory_record_store(loop::loop& loop, memory_records& records, const store_faults& faults,
                      std::uint64_t seed)
      : home_(loop), records_(records), faults_(faults), random_(seed), changed_(loop) {}

  loop::task<result<record_list>> load(std::function<void(std::string)> /*on_damaged*/) override {
    const auto passed = co_await pass("load");
    if (!passed) co_return std::unexpected(passed.error());
    record_list list{.records = {}, .revision = records_.revision};
    for (const auto& [name, each] : records_.records) list.records.push_back(each);
    co_await delay();
    co_return list;
  }
  loop::task<result<std::optional<record>>> find(std::string name) override {
    const auto passed = co_await pass("find " + name);
    if (!passed) co_return std::unexpected(passed.error());
    std::optional<record> found;
    if (const auto at = records_.records.find(name); at != records_.records.end()) {
      found = at->second;
    }
    co_await delay();
    co_return found;
  }
  loop::task<result<std::uint64_t>> put(record record, std::uint64_t expected) override {
    const auto passed = co_await pass("put " + record.name);
    if (!passed) co_return std::unexpected(passed.error());
    const auto present = revision_of(record.name);
    if (present != expected) co_return stale_revision(record.name, expected, present);
    records_.put(record);
    const auto revision = records_.revision;
    changed_.notify();
    co_await delay();
    if (occurs(faults_.lost_answer)) co_return lost("put " + record.name);
    co_return revision;
  }
  loop::task<result<void>> remove(std::string name, std::uint64_t expected) override {
    const auto passed = co_await pass("remove " + name);
    if (!passed) co_return std::unexpected(passed.error());
    const auto present = revision_of(name);
    if (present != 0 && present != expected) co_return stale_revision(name, expected, present);
    records_.erase(name);
    changed_.notify();
    co_await delay();
    if (occurs(faults_.lost_answer)) co_return lost("remove " + name);
    co_return result<void>{};
  }
  // Another writer does not notify this store, so it is polled.
  loop::task<result<record_changes>> watch(std::uint64_t last) override {
    const auto has_news = [this, last] { return is_closed_ || records_.revision > last; };
    (void)co_await changed_.wait(has_news, loop::time_point::max(), std::chrono::milliseconds(20));
    if (is_closed_) co_return record_changes{.names = {}, .revision = last};
    if (occurs(faults_.forgetting)) {
      co_return failure(errc::not_found, "name what has changed", "the history is gone");
    }
    record_changes changes{.names = {}, .revision = records_.revision};
    for (const auto& [revision, name] : records_.history) {
      if (revision > last || occurs(faults_.repetition)) changes.names.push_back(name);
    }
    std::ranges::shuffle(changes.names, random_);
    co_return changes;
  }
  void close() override {
    is_closed_ = true;
    changed_.notify();
  }
  [[nodiscard]] const std::string& place() const override { return place_; }

  /// From now on calls such as "put NAME" wait.
  void block(const std::string& text) { blocked_.insert(text); }
  void release(const std::string& text) {
    blocked_.erase(text);
    changed_.notify();
  }
  /// Waiting and future calls of that name fail, until `heal`.
  void fail(const std::string& text) { failing_.insert(text); }
  void heal(const std::string& text) { failing_.erase(text); }

  std::vector<std::string> asked;

 private:
  loop::task<result<void>> pass(std::string text) {
    asked.push_back(text);
    const auto may_go = [this, &text] { return !blocked_.contains(text); };
    (void)co_await changed_.wait(may_go);
    co_await delay();
    if (failing_.contains(text)) co_return failure(errc::no_space, text, "it was told so");
    if (occurs(faults_.refusal)) {
      co_return failure(errc::connection_closed, text, "the store is away");
    }
    co_return result<void>{};
  }
  loop::task<> delay() {
    const auto most = faults_.longest_delay.count();
    if (most == 0) co_return;
    std::uniform_int_distribution<loop::duration::rep> draw(0, most);
    co_await home_.sleep(loop::duration(draw(random_)));
  }
  [[nodiscard]] bool occurs(double probability) {
    return probability > 0 && std::uniform_real_distribution<double>()(random_) < probability;
  }
  static std::unexpected<error> lost(const std::string& text) {
    return failure(errc::timed_out, text, "there is no answer");
  }
  [[nodiscard]] std::uint64_t revision_of(const std::string& name) const {
    const auto found = records_.records.find(name);
    return found == records_.records.end() ? 0 : found->second.revision;
  }

  loop::loop& home_;
  memory_records& records_;
  const store_faults& faults_;
  std::mt19937_64 random_;
  loop::condition changed_;
  bool is_closed_ = false;
  std::set<std::string> blocked_;
  std::set<std::string> failing_;
  const std::string place_ = "nowhere";
};

}  // namespace strata::daemon
