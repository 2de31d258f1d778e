// Unions, intersections and differences of sets.
#include <algorithm>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/key_counts.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/values/set_value.hpp"

namespace strata::runtime::cache {

namespace {

using operands = std::vector<const set_value*>;

// Returns the sets at the words, null for missing ones. Returns nullopt after an error.
std::optional<operands> read_operands(call& c, std::size_t first, std::size_t count) {
  operands sets;
  for (auto i = first; i < first + count; ++i) {
    const auto found = c.read_as<set_value>(i);
    if (!found) return {};
    sets.push_back(*found);
  }
  return sets;
}

// Visits the members of all sets; `visit` returns false to stop.
template <class Visit>
void intersect(operands sets, Visit&& visit) {
  if (std::ranges::find(sets, nullptr) != sets.end()) return;
  std::ranges::stable_sort(sets, {}, [](const set_value* each) { return each->size(); });
  bool goes_on = true;
  sets[0]->for_each([&](std::string_view member) {
    if (!goes_on) return;
    for (const auto* other : std::span(sets).subspan(1)) {
      if (!other->contains(member)) return;
    }
    goes_on = visit(member);
  });
}

template <class Visit>
void subtract(const operands& sets, Visit&& visit) {
  if (sets[0] == nullptr) return;
  sets[0]->for_each([&](std::string_view member) {
    for (const auto* other : std::span(sets).subspan(1)) {
      if (other != nullptr && other->contains(member)) return;
    }
    visit(member);
  });
}

// Whether it is less work to remove the members of the others from a copy of the first set. It is
// decided as in Redis, since the result of a removal keeps the encoding that the copy had.
bool is_removal_less_work(const operands& sets) {
  const bool has_itself =
      std::ranges::find(std::span(sets).subspan(1), sets[0]) != std::span(sets).subspan(1).end();
  if (sets[0] == nullptr || has_itself) return false;
  std::size_t search = 0;
  std::size_t removal = 0;
  for (const auto* each : sets) {
    if (each == nullptr) continue;
    search += sets[0]->size();
    removal += each->size();
  }
  return search / 2 > removal;
}

void remove_others(const operands& sets, set_value& rest) {
  for (const auto* other : std::span(sets).subspan(1)) {
    if (rest.size() == 0) return;
    if (other != nullptr) other->for_each([&](std::string_view each) { rest.erase(each); });
  }
}

enum class operation : std::uint8_t { unite, intersect, subtract };

std::unique_ptr<set_value> compute(const operands& sets, operation operation,
                                   std::int64_t most_integers) {
  auto made = std::make_unique<set_value>();
  const auto put = [&](std::string_view member) {
    return made->insert(member, most_integers), true;
  };
  switch (operation) {
    case operation::unite:
      for (const auto* each : sets) {
        if (each != nullptr) each->for_each(put);
      }
      break;
    case operation::intersect: intersect(sets, put); break;
    case operation::subtract:
      if (is_removal_less_work(sets)) {
        sets[0]->for_each(put);
        remove_others(sets, *made);
      } else {
        subtract(sets, put);
      }
      break;
  }
  return made;
}

void reply_result(call& c, operation operation) {
  const auto sets = read_operands(c, 1, c.size() - 1);
  if (!sets) return;
  const auto made = compute(*sets, operation, c.home().settings().set_max_integers);
  c.reply.set(made->size());
  made->for_each([&](std::string_view each) { c.reply.bulk(each); });
}

void store_result(call& c, operation operation, std::string_view event) {
  const auto sets = read_operands(c, 2, c.size() - 2);
  if (!sets) return;
  auto made = compute(*sets, operation, c.home().settings().set_max_integers);
  const auto size = made->size();
  const auto hash = c.hash(1);
  if (size != 0) {
    c.store(entry::make(c[1], std::move(made)), hash);
    c.changed(c[1], event_set, event);
  } else if (entry* const old = c.find(1)) {
    c.remove(old, hash);
    c.keys().changes().record();
  }
  c.reply.integer(static_cast<std::int64_t>(size));
}

void sunion(call& c) { reply_result(c, operation::unite); }
void sinter(call& c) { reply_result(c, operation::intersect); }
void sdiff(call& c) { reply_result(c, operation::subtract); }
void sunionstore(call& c) { store_result(c, operation::unite, "sunionstore"); }
void sinterstore(call& c) { store_result(c, operation::intersect, "sinterstore"); }
void sdiffstore(call& c) { store_result(c, operation::subtract, "sdiffstore"); }

void sintercard(call& c) {
  const auto count =
      read_key_count(c, 1, "ERR Number of keys can't be greater than number of args");
  const auto limit = count ? read_limit(c, *count + 2) : std::nullopt;
  if (!limit) return;
  const auto sets = read_operands(c, 2, *count);
  if (!sets) return;
  std::int64_t found = 0;
  intersect(*sets, [&](std::string_view) { return ++found != *limit; });
  c.reply.integer(found);
}

// clang-format off
const command_row set_algebra_rows[] = {
    {"sdiff", -2, "readonly", {1, -1, 1},
     "RO access 1 -1 1", "set", "1.0.0",
     "returns the members of the first set that no other set has", sdiff},
    {"sdiffstore", -3, "write denyoom", {1, -1, 1},
     "OW update 1 0 1; RO access 2 -1 1", "set", "1.0.0",
     "stores the difference of sets", sdiffstore},
    {"sinter", -2, "readonly", {1, -1, 1},
     "RO access 1 -1 1", "set", "1.0.0",
     "returns the members that all sets have", sinter},
    {"sintercard", -3, "readonly movablekeys", {0, 0, 0},
     "RO access 1 n0 1 1", "set", "7.0.0",
     "counts the members that all sets have", sintercard},
    {"sinterstore", -3, "write denyoom", {1, -1, 1},
     "RW update 1 0 1; RO access 2 -1 1", "set", "1.0.0",
     "stores the intersection of sets", sinterstore},
    {"sunion", -2, "readonly", {1, -1, 1},
     "RO access 1 -1 1", "set", "1.0.0",
     "returns the members of any of the sets", sunion},
    {"sunionstore", -3, "write denyoom", {1, -1, 1},
     "OW update 1 0 1; RO access 2 -1 1", "set", "1.0.0",
     "stores the union of sets", sunionstore},
};
// clang-format on

}  // namespace

command_group set_algebra_commands() { return {"set", set_algebra_rows}; }

}  // namespace strata::runtime::cache
