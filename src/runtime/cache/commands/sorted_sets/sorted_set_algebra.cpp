// Unions, intersections and differences of sorted sets, and of sets, whose members have score 1.
#include <algorithm>
#include <cmath>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/key_counts.hpp"
#include "runtime/cache/commands/sorted_sets/sorted_set_words.hpp"
#include "runtime/cache/values/set_value.hpp"

namespace strata::runtime::cache {

namespace {

// --- sources

// One operand: a sorted set, a plain set, or neither if the key is missing.
struct source {
  const sorted_set* sorted = nullptr;
  const set_value* plain = nullptr;
  double weight = 1;

  [[nodiscard]] std::size_t size() const {
    if (sorted != nullptr) return sorted->size();
    return plain != nullptr ? plain->size() : 0;
  }
  [[nodiscard]] std::optional<double> score_of(std::string_view member) const {
    if (sorted != nullptr) return sorted->score_of(member);
    return plain != nullptr && plain->contains(member) ? std::optional(1.0) : std::nullopt;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (sorted != nullptr) {
      sorted->for_each(visit);
    } else if (plain != nullptr) {
      plain->for_each([&](std::string_view member) { visit(member, 1.0); });
    }
  }
};
using sources = std::vector<source>;

// Replies with an error and returns nullopt for another type of value.
std::optional<source> read_source(call& c, const entry* entry) {
  if (entry == nullptr) return source{};
  if (entry->type() == sorted_set::kind) return source{.sorted = &entry->as<sorted_set>()};
  if (entry->type() == set_value::kind) return source{.plain = &entry->as<set_value>()};
  c.fail(wrong_type_error);
  return {};
}

// Reads the number of keys at word `index`, and the keys behind it. Returns nullopt after an error.
std::optional<sources> read_sources(call& c, std::size_t index) {
  const auto count = c.integer(index);
  if (!count) return {};
  if (*count < 1) {
    c.fail("ERR at least 1 input key is needed for '" + c.what.full_name() + "' command");
    return {};
  }
  if (static_cast<std::uint64_t>(*count) > c.size() - index - 1) {
    c.fail_syntax();
    return {};
  }
  sources read;
  read.reserve(static_cast<std::size_t>(*count));
  for (auto i = index + 1; i <= index + static_cast<std::size_t>(*count); ++i) {
    const auto each = read_source(c, c.read(i));
    if (!each) return {};
    read.push_back(*each);
  }
  return read;
}

// --- scores

enum class aggregate : std::uint8_t { sum, least, most };

// Infinities that cancel out give 0.
double number_or_zero(double value) { return std::isnan(value) ? 0 : value; }

double combine(aggregate aggregate, double left, double right) {
  switch (aggregate) {
    case aggregate::sum: return number_or_zero(left + right);
    case aggregate::least: return right < left ? right : left;
    case aggregate::most: return right > left ? right : left;
  }
  return left;
}

// --- operations

enum class combination : std::uint8_t { unite, intersect, subtract };

// The members of a result with their scores, unordered.
class score_sums {
 public:
  score_sums() = default;
  score_sums(const score_sums&) = delete;
  score_sums& operator=(const score_sums&) = delete;
  ~score_sums() {
    members_.for_each([](scored_member* each) { scored_member::destroy(each); });
  }
  void add(std::string_view member, double score, aggregate aggregate) {
    const auto hash = hash_of(member);
    if (auto** const there = members_.find(member, hash)) {
      (*there)->set_score(combine(aggregate, (*there)->score(), score));
    } else {
      members_.insert(scored_member::make(member, score), hash);
    }
  }
  /// Adds a new member.
  void add(std::string_view member, double score) {
    members_.insert(scored_member::make(member, score), hash_of(member));
  }
  [[nodiscard]] std::unique_ptr<sorted_set> in_order() {
    return std::make_unique<sorted_set>(std::move(members_));
  }

 private:
  member_table members_;
};

void unite(const sources& sources, aggregate aggregate, score_sums& sums) {
  for (const auto& each : sources) {
    each.for_each([&](std::string_view member, double score) {
      sums.add(member, number_or_zero(score * each.weight), aggregate);
    });
  }
}

// Visits (member, score) of the members of all sources; `visit` returns false to stop.
template <class Visit>
void intersect(const sources& sources, aggregate aggregate, Visit&& visit) {
  bool goes_on = true;
  sources[0].for_each([&](std::string_view member, double score) {
    if (!goes_on) return;
    double all = number_or_zero(score * sources[0].weight);
    for (const auto& other : std::span(sources).subspan(1)) {
      const auto there = other.score_of(member);
      if (!there) return;
      all = combine(aggregate, all, *there * other.weight);
    }
    goes_on = visit(member, all);
  });
}

void subtract(const sources& sources, score_sums& sums) {
  sources[0].for_each([&](std::string_view member, double score) {
    for (const auto& other : std::span(sources).subspan(1)) {
      if (other.score_of(member)) return;
    }
    sums.add(member, score);
  });
}

// Puts the smallest first, so that an intersection checks as few members as possible. Sums use this
// order too, which affects the last bits of a score.
void sort_by_size(sources& all) { std::ranges::stable_sort(all, {}, &source::size); }

std::unique_ptr<sorted_set> compute(sources& sources, combination operation, aggregate aggregate) {
  score_sums made;
  if (operation != combination::subtract) sort_by_size(sources);
  switch (operation) {
    case combination::unite: unite(sources, aggregate, made); break;
    case combination::intersect:
      intersect(sources, aggregate, [&](std::string_view member, double score) {
        made.add(member, score);
        return true;
      });
      break;
    case combination::subtract: subtract(sources, made); break;
  }
  return made.in_order();
}

// --- commands

struct algebra_options {
  aggregate how = aggregate::sum;
  bool with_scores = false;
};

std::optional<aggregate> read_aggregate(const call& c, std::size_t index) {
  if (c.is(index, "SUM")) return aggregate::sum;
  if (c.is(index, "MIN")) return aggregate::least;
  if (c.is(index, "MAX")) return aggregate::most;
  return {};
}

bool read_weights(call& c, std::size_t first, sources& sources) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto weight = c.real(first + i, "ERR weight value is not a float");
    if (!weight) return false;
    sources[i].weight = *weight;
  }
  return true;
}

std::optional<algebra_options> read_options(call& c, std::size_t first, combination operation,
                                            bool stores, sources& sources) {
  algebra_options read;
  const bool weighs = operation != combination::subtract;
  for (auto i = first; i < c.size(); ++i) {
    const auto behind = c.size() - i - 1;
    if (weighs && behind >= sources.size() && c.is(i, "WEIGHTS")) {
      if (!read_weights(c, i + 1, sources)) return {};
      i += sources.size();
    } else if (weighs && behind >= 1 && c.is(i, "AGGREGATE")) {
      const auto how = read_aggregate(c, ++i);
      if (!how) {
        c.fail_syntax();
        return {};
      }
      read.how = *how;
    } else if (!stores && c.is(i, "WITHSCORES")) {
      read.with_scores = true;
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

void reply_combined(call& c, combination operation) {
  auto of = read_sources(c, 1);
  if (!of) return;
  const auto options = read_options(c, 2 + of->size(), operation, false, *of);
  if (!options) return;
  const auto made = compute(*of, operation, options->how);
  begin_members(c, made->size(), options->with_scores);
  made->for_each([&](std::string_view member, double score) {
    reply_member(c, options->with_scores, member, score);
  });
}

void store_combined(call& c, combination operation, std::string_view event) {
  auto of = read_sources(c, 2);
  if (!of) return;
  const auto options = read_options(c, 3 + of->size(), operation, true, *of);
  if (!options) return;
  auto made = compute(*of, operation, options->how);
  made->fit(limits_of_sorted_sets(c));
  store_sorted_set(c, std::move(made), event);
}

void zunion(call& c) { reply_combined(c, combination::unite); }
void zinter(call& c) { reply_combined(c, combination::intersect); }
void zdiff(call& c) { reply_combined(c, combination::subtract); }
void zunionstore(call& c) { store_combined(c, combination::unite, "zunionstore"); }
void zinterstore(call& c) { store_combined(c, combination::intersect, "zinterstore"); }
void zdiffstore(call& c) { store_combined(c, combination::subtract, "zdiffstore"); }

void zintercard(call& c) {
  auto of = read_sources(c, 1);
  if (!of) return;
  const auto limit = read_limit(c, of->size() + 2);
  if (!limit) return;
  sort_by_size(*of);
  std::int64_t found = 0;
  intersect(*of, aggregate::sum, [&](std::string_view, double) { return ++found != *limit; });
  c.reply.integer(found);
}

// clang-format off
const command_row sorted_set_algebra_rows[] = {
    {"zdiff", -3, "readonly movablekeys", {0, 0, 0},
     "RO access 1 n0 1 1", "sortedset", "6.2.0",
     "returns the members of the first sorted set that no other sorted set has", zdiff},
    {"zdiffstore", -4, "write denyoom movablekeys", {1, 1, 1},
     "OW update 1 0 1; RO access 2 n0 1 1", "sortedset", "6.2.0",
     "stores the difference of sorted sets", zdiffstore},
    {"zinter", -3, "readonly movablekeys", {0, 0, 0},
     "RO access 1 n0 1 1", "sortedset", "6.2.0",
     "returns the members that all sorted sets have", zinter},
    {"zintercard", -3, "readonly movablekeys", {0, 0, 0},
     "RO access 1 n0 1 1", "sortedset", "7.0.0",
     "counts the members that all sorted sets have", zintercard},
    {"zinterstore", -4, "write denyoom movablekeys", {1, 1, 1},
     "OW update 1 0 1; RO access 2 n0 1 1", "sortedset", "2.0.0",
     "stores the intersection of sorted sets", zinterstore},
    {"zunion", -3, "readonly movablekeys", {0, 0, 0},
     "RO access 1 n0 1 1", "sortedset", "6.2.0",
     "returns the members of any of the sorted sets", zunion},
    {"zunionstore", -4, "write denyoom movablekeys", {1, 1, 1},
     "OW update 1 0 1; RO access 2 n0 1 1", "sortedset", "2.0.0",
     "stores the union of sorted sets", zunionstore},
};
// clang-format on

}  // namespace

command_group sorted_set_algebra_commands() { return {"sorted-set", sorted_set_algebra_rows}; }

}  // namespace strata::runtime::cache
