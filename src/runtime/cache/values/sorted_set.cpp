#include "runtime/cache/values/sorted_set.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "text/real_text.hpp"

namespace strata::runtime::cache {

namespace {

// Redis stores whole scores up to this as integers in its packs.
constexpr double most_integer = 0x1p62;

// A score in the form of a pack.
class score_text {
 public:
  explicit score_text(double score) {
    if (std::abs(score) <= most_integer && std::trunc(score) == score) {
      auto* const end =
          std::to_chars(buffer_, buffer_ + sizeof buffer_, static_cast<std::int64_t>(score)).ptr;
      text_ = {buffer_, static_cast<std::size_t>(end - buffer_)};
    } else {
      text_ = text::format_real(score, buffer_);
    }
  }
  score_text(const score_text&) = delete;
  score_text& operator=(const score_text&) = delete;
  [[nodiscard]] std::string_view view() const { return text_; }

 private:
  char buffer_[40];
  std::string_view text_;
};

std::size_t size_from(std::size_t begin, std::size_t end) { return end > begin ? end - begin : 0; }

}  // namespace

bool lex_range::is_below(std::string_view member) const {
  switch (from.what) {
    case lex_bound::kind::least: return false;
    case lex_bound::kind::member: return member < from.text;
    case lex_bound::kind::beside_member: return member <= from.text;
    default: return true;
  }
}

bool lex_range::is_above(std::string_view member) const {
  switch (to.what) {
    case lex_bound::kind::most: return false;
    case lex_bound::kind::member: return member > to.text;
    case lex_bound::kind::beside_member: return member >= to.text;
    default: return true;
  }
}

void sorted_set::large_set::insert(std::string_view member, double score, std::uint64_t hash) {
  auto* const fresh = scored_member::make(member, score);
  members.insert(fresh, hash);
  order.insert(fresh);
}

sorted_set::sorted_set(member_table members) : large_(std::make_unique<large_set>()) {
  // Inserted in order, each goes behind the last, where memory is in the cache.
  std::vector<scored_member*> all;
  all.reserve(members.size());
  members.for_each([&](scored_member* each) { all.push_back(each); });
  std::ranges::sort(all, [](const scored_member* left, const scored_member* right) {
    return left->is_before(right->score(), right->member());
  });
  for (auto* each : all) large_->order.insert(each);
  large_->members = std::move(members);
}

sorted_set::sorted_set(const sorted_set& other) : collection(other), small_(other.small_) {
  if (other.is_pack()) return;
  large_ = std::make_unique<large_set>();
  other.for_each([this](std::string_view member, double score) {
    large_->insert(member, score, hash_of(member));
  });
}

// --- the small form

double sorted_set::small_score(pack::offset offset) const {
  if (const auto whole = small_.integer_at(offset)) return static_cast<double>(*whole);
  double score = 0;
  const auto kept = small_.at(offset);
  const auto text = kept.text();
  std::from_chars(text.data(), text.data() + text.size(), score);
  return score;
}

bool sorted_set::is_small_before(pack::offset offset, pack::offset score_at, double score,
                                 std::string_view member) const {
  const double there = small_score(score_at);
  return there < score || (there == score && small_.at(offset).text() < member);
}

void sorted_set::insert_small(std::string_view member, double score) {
  const score_text text(score);
  const auto last = small_.last();
  if (last == pack::none || is_small_before(small_.previous(last), last, score, member)) {
    small_.push_back(member);
    small_.push_back(text.view());
    return;
  }
  auto at = small_.first();
  for (auto score_at = small_.next(at); is_small_before(at, score_at, score, member);) {
    at = small_.next(score_at);
    score_at = small_.next(at);
  }
  // An insertion may move the elements before it, but their distance from the beginning stays.
  const auto before = at - small_.first();
  small_.insert(at, text.view());
  small_.insert(small_.first() + before, member);
}

template <class Below, class Above>
index_range sorted_set::small_ranks(Below&& is_below, Above&& is_above) const {
  index_range found;
  auto at = small_.first();
  while (at != pack::none) {
    const auto score_at = small_.next(at);
    if (found.count == 0 && is_below(at, score_at)) {
      ++found.first;
    } else if (is_above(at, score_at)) {
      break;
    } else {
      ++found.count;
    }
    at = small_.next(score_at);
  }
  return found;
}

void sorted_set::enlarge() {
  auto made = std::make_unique<large_set>();
  for_each(
      [&](std::string_view member, double score) { made->insert(member, score, hash_of(member)); });
  large_ = std::move(made);
  small_.clear();
}

bool sorted_set::shed(std::size_t steps) {
  if (is_pack()) return false;
  // The tree owns the members themselves.
  if (large_->members.drain(steps, [](scored_member*) {})) return true;
  constexpr std::size_t members_of_a_step = 8;
  large_->order.erase(0, std::min(steps * members_of_a_step, large_->order.size()),
                      [](const scored_member&) {});
  return large_->order.size() != 0;
}

void sorted_set::fit(const sorted_set_limits& limits) {
  if (is_pack() || static_cast<std::int64_t>(size()) > limits.entries) return;
  bool fits = true;
  for_each([&](std::string_view member, double) {
    fits = fits && static_cast<std::int64_t>(member.size()) <= limits.value;
  });
  if (!fits) return;
  pack made;
  for_each([&](std::string_view member, double score) {
    made.push_back(member);
    made.push_back(score_text(score).view());
  });
  small_ = std::move(made);
  large_.reset();
}

// --- both forms

sorted_set::place sorted_set::find(std::string_view member) const {
  place found;
  if (is_pack()) {
    found.offset_ = small_.find(member, small_.first(), 2);
    if (found.offset_ != pack::none) found.score_ = small_score(small_.next(found.offset_));
    return found;
  }
  found.hash_ = hash_of(member);
  found.node_ = large_->members.find(member, found.hash_);
  if (found.node_ != nullptr) found.score_ = (*found.node_)->score();
  return found;
}

void sorted_set::put(const place& place, std::string_view member, double score,
                     const sorted_set_limits& limits) {
  if (place.score_ == score) return;
  if (!place.is_there()) {
    add(member, score, limits);
  } else if (is_pack()) {
    small_.erase(place.offset_, 2);
    insert_small(member, score);
  } else {
    large_->order.move(*place.node_, score);
  }
}

void sorted_set::add(std::string_view member, double score, const sorted_set_limits& limits) {
  if (is_pack()) {
    if (static_cast<std::int64_t>(size()) < limits.entries &&
        static_cast<std::int64_t>(member.size()) <= limits.value) {
      insert_small(member, score);
      return;
    }
    enlarge();
  }
  large_->insert(member, score, hash_of(member));
}

bool sorted_set::erase(std::string_view member) {
  const auto found = find(member);
  if (!found.is_there()) return false;
  if (is_pack()) {
    small_.erase(found.offset_, 2);
  } else {
    large_->order.erase(large_->members.erase(found.node_, found.hash_));
  }
  return true;
}

void sorted_set::erase_ranks(index_range ranks) {
  if (ranks.count == 0) return;
  if (is_pack()) {
    small_.erase(small_.seek(static_cast<std::int64_t>(ranks.first * 2)), ranks.count * 2);
    return;
  }
  large_->order.erase(ranks.first, ranks.count, [this](const scored_member& gone) {
    const auto hash = hash_of(gone.member());
    large_->members.erase(large_->members.find(gone.member(), hash), hash);
  });
}

std::optional<std::size_t> sorted_set::rank_of(std::string_view member) const {
  if (!is_pack()) {
    const auto found = find(member);
    if (!found.is_there()) return {};
    return large_->order.rank_of(**found.node_);
  }
  const auto found = small_.find(member, small_.first(), 2);
  if (found == pack::none) return {};
  std::size_t rank = 0;
  for (auto at = small_.first(); at != found; at = small_.next(small_.next(at))) ++rank;
  return rank;
}

index_range sorted_set::ranks_of(const score_range& scores) const {
  if (is_pack()) {
    return small_ranks(
        [&](pack::offset, pack::offset offset) { return scores.is_below(small_score(offset)); },
        [&](pack::offset, pack::offset offset) { return scores.is_above(small_score(offset)); });
  }
  const auto& order = large_->order;
  const auto begin = order.count_before(
      [&](double score, const scored_member&) { return scores.is_below(score); });
  const auto end = order.count_before(
      [&](double score, const scored_member&) { return !scores.is_above(score); });
  return {begin, size_from(begin, end)};
}

index_range sorted_set::ranks_of(const lex_range& members) const {
  if (is_pack()) {
    return small_ranks([&](pack::offset offset,
                           pack::offset) { return members.is_below(small_.at(offset).text()); },
                       [&](pack::offset offset, pack::offset) {
                         return members.is_above(small_.at(offset).text());
                       });
  }
  const auto& order = large_->order;
  const auto begin = order.count_before(
      [&](double, const scored_member& each) { return members.is_below(each.member()); });
  const auto end = order.count_before(
      [&](double, const scored_member& each) { return !members.is_above(each.member()); });
  return {begin, size_from(begin, end)};
}

std::string sorted_set::score_as_kept(double score) const {
  char buffer[40];
  return std::string(is_pack() ? score_text(score).view() : text::format_real(score, buffer));
}

std::size_t sorted_set::memory() const {
  const auto fixed = allocation_size(sizeof *this);
  if (is_pack()) return fixed + small_.memory();
  std::size_t bytes =
      fixed + allocation_size(sizeof *large_) + large_->members.memory() + large_->order.memory();
  large_->members.for_each([&](const scored_member* each) { bytes += each->memory(); });
  return bytes;
}

}  // namespace strata::runtime::cache
