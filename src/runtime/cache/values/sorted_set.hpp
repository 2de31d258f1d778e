// A sorted set: a pack of members and scores, in order, while it is small; afterwards members with
// scores, which a hash table finds by name, and a tree by score and rank.
//
// Ranges of scores and of members are first converted to ranges of ranks: so their size is known
// before any member is visited, and there is one way to visit them, in either direction.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cache/values/entry.hpp"
#include "runtime/cache/values/hash_table.hpp"
#include "runtime/cache/values/index_range.hpp"
#include "runtime/cache/values/member_tree.hpp"
#include "runtime/cache/values/pack.hpp"

namespace strata::runtime::cache {

/// The limits of a small sorted set: zset-max-listpack-entries and -value.
struct sorted_set_limits {
  std::int64_t entries;
  std::int64_t value;
};

struct score_range {
  double least;
  double most;
  bool without_least;
  bool without_most;

  [[nodiscard]] bool is_below(double score) const {
    return without_least ? score <= least : score < least;
  }
  [[nodiscard]] bool is_above(double score) const {
    return without_most ? score >= most : score > most;
  }
};

/// One end of a range of members that all have the same score.
struct lex_bound {
  enum class kind : std::uint8_t { least, member, beside_member, most };
  kind what = kind::least;
  std::string_view text;
};

struct lex_range {
  lex_bound from;
  lex_bound to;

  [[nodiscard]] bool is_below(std::string_view member) const;
  [[nodiscard]] bool is_above(std::string_view member) const;
};

struct key_of_member {
  static std::string_view key(const scored_member* member) { return member->member(); }
};
/// Members by name only.
using member_table = hash_table<scored_member*, key_of_member>;

class sorted_set final : public collection {
 public:
  static constexpr value_kind kind = value_kind::sorted_set;

  /// The place where a member is or would be; valid until the set changes.
  class place {
   public:
    [[nodiscard]] bool is_there() const { return score_.has_value(); }
    [[nodiscard]] std::optional<double> score() const { return score_; }

   private:
    friend class sorted_set;
    std::optional<double> score_;
    pack::offset offset_ = pack::none;  // in a small set
    scored_member** node_ = nullptr;    // in a large one
    std::uint64_t hash_ = 0;
  };

  sorted_set() = default;
  /// Takes a pack of members and scores, in order.
  explicit sorted_set(pack members) : small_(std::move(members)) {}
  /// Takes ownership of the members, which must be in no tree. The set has the large form, whatever
  /// its size.
  explicit sorted_set(member_table members);
  sorted_set(const sorted_set& other);
  sorted_set& operator=(const sorted_set&) = delete;
  ~sorted_set() override = default;

  [[nodiscard]] place find(std::string_view member) const;
  [[nodiscard]] std::optional<double> score_of(std::string_view member) const {
    return find(member).score();
  }
  /// Sets the score of the member at `place`, which `find` returned.
  void put(const place& place, std::string_view member, double score,
           const sorted_set_limits& limits);
  /// Adds a member that does not exist yet.
  void add(std::string_view member, double score, const sorted_set_limits& limits);
  /// Removes a member; reports whether it existed.
  bool erase(std::string_view member);
  /// Returns the member's rank; the lowest score has rank 0.
  [[nodiscard]] std::optional<std::size_t> rank_of(std::string_view member) const;

  [[nodiscard]] index_range ranks_of(const score_range& scores) const;
  [[nodiscard]] index_range ranks_of(const lex_range& members) const;
  /// Erases the members with these ranks.
  void erase_ranks(index_range ranks);
  /// Visits the members with these ranks, which must exist, as (member, score), from the highest on
  /// if `reversed`. `visit` must not change the set.
  template <class Visit>
  void visit(index_range ranks, bool reversed, Visit&& visit) const {
    if (ranks.count == 0) return;
    const std::size_t begin = reversed ? ranks.first + ranks.count - 1 : ranks.first;
    if (is_pack()) {
      visit_small(begin, ranks.count, reversed, visit);
    } else {
      auto place = large_->order.at(begin);
      for (std::size_t left = ranks.count; left-- != 0;) {
        visit(place->member(), place.score());
        reversed ? place.previous() : place.next();
      }
    }
  }
  /// Visits the members whose scores are in the range and which `chooses(score)`, from the lowest
  /// score on, until `visit` returns false. In the large form the other members are not read.
  template <class Choose, class Visit>
  void visit_chosen(const score_range& scores, Choose&& chooses, Visit&& visit) const {
    if (is_pack()) {
      bool goes_on = true;
      for_each([&](std::string_view member, double score) {
        if (!goes_on || scores.is_below(score) || scores.is_above(score)) return;
        if (chooses(score)) goes_on = visit(member, score);
      });
      return;
    }
    auto place = large_->order.first_not(
        [&](double score, const scored_member&) { return scores.is_below(score); });
    for (; place.is_at_member() && !scores.is_above(place.score()); place.next()) {
      if (chooses(place.score()) && !visit(place->member(), place.score())) return;
    }
  }
  template <class Visit>
  void for_each(Visit&& each) const {
    visit({0, size()}, false, each);
  }
  /// Performs a step of ZSCAN.
  template <class Visit>
  std::uint64_t scan(std::uint64_t cursor, Visit&& visit) const {
    if (is_pack()) {
      for_each(visit);
      return 0;
    }
    return large_->members.scan(
        cursor, [&](const scored_member* each) { visit(each->member(), each->score()); });
  }
  /// Returns a score of this set for ZSCAN: for a pack, in its stored form.
  [[nodiscard]] std::string score_as_kept(double score) const;
  /// Visits a random member. The set must not be empty.
  template <class Random, class Visit>
  void with_random(Random& source, Visit&& each) const {
    if (is_pack()) {
      visit({static_cast<std::size_t>(source() % size()), 1}, false, each);
    } else {
      const auto* const any = large_->members.random(source);
      each(any->member(), any->score());
    }
  }
  /// Converts it to a pack if it is small enough. No other change does so.
  void fit(const sorted_set_limits& limits);

  [[nodiscard]] bool is_pack() const { return large_ == nullptr; }
  [[nodiscard]] const pack& packed() const { return small_; }

  [[nodiscard]] value_kind type() const override { return kind; }
  [[nodiscard]] std::size_t size() const override {
    return is_pack() ? small_.size() / 2 : large_->order.size();
  }
  [[nodiscard]] std::unique_ptr<collection> clone() const override {
    return std::make_unique<sorted_set>(*this);
  }
  [[nodiscard]] std::string_view encoding() const override {
    return is_pack() ? "listpack" : "skiplist";
  }
  [[nodiscard]] std::size_t memory() const override;
  bool shed(std::size_t steps) override;

 private:
  struct large_set {
    member_table members;
    member_tree order;

    void insert(std::string_view member, double score, std::uint64_t hash);
    static void* operator new(std::size_t size) { return allocate(size); }
    static void operator delete(void* memory, std::size_t size) { release(memory, size); }
  };

  template <class Visit>
  void visit_small(std::size_t begin, std::size_t count, bool reversed, Visit&& visit) const {
    auto at = small_.seek(static_cast<std::int64_t>(begin * 2));
    for (std::size_t left = count; left-- != 0;) {
      const auto score_at = small_.next(at);
      visit(small_.at(at).text(), small_score(score_at));
      if (left == 0) break;
      at = reversed ? small_.previous(small_.previous(at)) : small_.next(score_at);
    }
  }
  // Returns the ranks from the first member that is not below to the last that is not above; both
  // functions get the offsets of member and score.
  template <class Below, class Above>
  [[nodiscard]] index_range small_ranks(Below&& is_below, Above&& is_above) const;
  [[nodiscard]] double small_score(pack::offset offset) const;
  [[nodiscard]] bool is_small_before(pack::offset offset, pack::offset score_at, double score,
                                     std::string_view member) const;
  void insert_small(std::string_view member, double score);
  void enlarge();

  pack small_;  // empty in the large form
  std::unique_ptr<large_set> large_;
};

}  // namespace strata::runtime::cache
