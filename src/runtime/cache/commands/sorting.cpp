// SORT: replies with the elements of a list, set or sorted set in another order, or with the values
// of keys derived from them.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/values/hash_value.hpp"
#include "runtime/cache/values/list_value.hpp"
#include "runtime/cache/values/set_value.hpp"
#include "runtime/cache/values/sorted_set.hpp"

namespace strata::runtime::cache {

namespace {

struct sort_words {
  bool descends = false;
  bool as_text = false;
  std::int64_t first = 0;
  std::int64_t count = -1;
  std::optional<std::string_view> by;
  std::vector<std::string_view> gets;
  std::optional<std::size_t> target;  // the word with STORE's key

  /// Reports whether nothing is sorted: a pattern without an asterisk is one key for all elements.
  [[nodiscard]] bool keeps_order() const { return by && !by->contains('*'); }
};

// Reports whether the client's user may not use patterns, which lead to keys that the words do not
// name; then replies with an error.
bool denies_patterns(call& c, std::string_view option) {
  if (c.who.user == nullptr || c.who.user->may_read_all(c.what, c.words)) return false;
  c.fail(fmt::format("ERR {} option of SORT denied due to insufficient ACL permissions.", option));
  return true;
}

// Reads the word at `i` and its arguments; returns the last of them. Returns nullopt after an
// error.
std::optional<std::size_t> read_sort_word(call& c, std::size_t i, bool stores, sort_words& words) {
  const auto behind = c.size() - i - 1;
  if (c.is(i, "ASC") || c.is(i, "DESC")) {
    words.descends = c.is(i, "DESC");
    return i;
  }
  if (c.is(i, "ALPHA")) {
    words.as_text = true;
    return i;
  }
  if (c.is(i, "LIMIT") && behind >= 2) {
    const auto first = c.integer(i + 1);
    const auto count = first ? c.integer(i + 2) : std::nullopt;
    if (!count) return {};
    words.first = *first;
    words.count = *count;
    return i + 2;
  }
  if (stores && c.is(i, "STORE") && behind >= 1) {
    words.target = i + 1;
  } else if (c.is(i, "BY") && behind >= 1) {
    words.by = c[i + 1];
    if (!words.keeps_order() && denies_patterns(c, "BY")) return {};
  } else if (c.is(i, "GET") && behind >= 1) {
    if (denies_patterns(c, "GET")) return {};
    words.gets.push_back(c[i + 1]);
  } else {
    c.fail_syntax();
    return {};
  }
  return i + 1;
}

std::optional<sort_words> read_sort_words(call& c, bool stores) {
  sort_words read;
  for (std::size_t i = 2; i < c.size(); ++i) {
    const auto last = read_sort_word(c, i, stores, read);
    if (!last) return {};
    i = *last;
  }
  return read;
}

// --- what a pattern means

// Looks up the value of `pattern` for `element`: "#" is the element itself, "a*b" a string,
// "a*b->field" a hash's field. Returns nullopt if there is none.
std::optional<std::string> look_up(call& c, std::string_view pattern, std::string_view element) {
  if (pattern == "#") return std::string(element);
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return {};
  auto arrow = pattern.find("->", star + 1);
  if (arrow != std::string_view::npos && arrow + 2 == pattern.size()) {
    arrow = std::string_view::npos;
  }
  std::string key(pattern.substr(0, star));
  key += element;
  key += pattern.substr(star + 1, arrow == std::string_view::npos ? arrow : arrow - star - 1);
  const entry* const found = c.read_key(key);
  if (found == nullptr) return {};
  if (arrow == std::string_view::npos) {
    if (!found->is_string()) return {};
    return std::string(string_view_of(*found).view());
  }
  if (found->type() != hash_value::kind) return {};
  std::optional<std::string> value;
  found->as<hash_value>().with_value(pattern.substr(arrow + 2),
                                     [&](std::string_view each) { value = each; });
  return value;
}

// --- sorting

struct sorted_element {
  std::string text;
  double number = 0;
  std::optional<std::string> weight;  // for BY … ALPHA
};
using elements = std::vector<sorted_element>;

bool can_be_sorted(const entry& entry) {
  const auto type = entry.type();
  return type == list_value::kind || type == set_value::kind || type == sorted_set::kind;
}

elements elements_of(const entry* entry) {
  elements all;
  if (entry == nullptr) return all;
  all.reserve(entry->object().size());
  const auto add = [&](std::string_view text) { all.emplace_back(std::string(text)); };
  if (entry->type() == list_value::kind) {
    const auto& list = entry->as<list_value>();
    for (auto at = list.first(); at; at = list.next(at)) add(list.at(at).text());
  } else if (entry->type() == set_value::kind) {
    entry->as<set_value>().for_each(add);
  } else {
    entry->as<sorted_set>().for_each([&](std::string_view member, double) { add(member); });
  }
  return all;
}

// Parses a number like C, up to a zero byte. Returns nullopt if it is none.
std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || errno == ERANGE || std::isnan(value)) return {};
  return value;
}

// Replies with an error and returns false if an element has no number to be sorted by.
bool weigh(call& c, const sort_words& words, elements& all) {
  for (auto& each : all) {
    std::optional<std::string> found;
    if (words.by) {
      found = look_up(c, *words.by, each.text);
      if (!found) continue;
    }
    if (words.as_text) {
      each.weight = std::move(found);
      continue;
    }
    const auto number = number_of(found ? *found : each.text);
    if (!number) {
      c.fail("ERR One or more scores can't be converted into double");
      return false;
    }
    each.number = *number;
  }
  return true;
}

int compare_bytes(const std::string& left, const std::string& right) { return left.compare(right); }

// Replied elements are compared in C's locale, up to a zero byte; stored ones by their bytes.
int compare_text(const std::string& left, const std::string& right, bool stores) {
  return stores ? compare_bytes(left, right) : std::strcmp(left.c_str(), right.c_str());
}

int compare(const sorted_element& left, const sorted_element& right, const sort_words& words) {
  if (!words.as_text) {
    if (left.number != right.number) return left.number < right.number ? -1 : 1;
    return compare_bytes(left.text, right.text);
  }
  if (!words.by) return compare_text(left.text, right.text, words.target.has_value());
  if (left.weight && right.weight) {
    return compare_text(*left.weight, *right.weight, words.target.has_value());
  }
  return static_cast<int>(left.weight.has_value()) - static_cast<int>(right.weight.has_value());
}

// Sorts the elements. Returns false after an error.
bool put_in_order(call& c, sort_words& words, const entry* entry, elements& all) {
  const bool is_set = entry != nullptr && entry->type() == set_value::kind;
  // A set has no order that would be the same on another server: it matters to what is stored, and
  // to scripts.
  const bool is_order_open = words.keeps_order() && is_set;
  if (is_order_open && (words.target || !c.who.may_block)) {
    words.by.reset();
    words.as_text = true;
  }
  if (words.keeps_order()) {
    if (words.descends && !is_set) std::ranges::reverse(all);
    return true;
  }
  if (!weigh(c, words, all)) return false;
  std::ranges::stable_sort(all, [&](const auto& left, const auto& right) {
    const int order = compare(left, right, words);
    return words.descends ? order > 0 : order < 0;
  });
  return true;
}

// --- the result

std::span<const sorted_element> within_limit(const sort_words& words, const elements& all) {
  const auto size = static_cast<std::int64_t>(all.size());
  const auto first = std::clamp<std::int64_t>(words.first, 0, size);
  const auto most = words.count < 0 ? size : std::min(words.count, size);
  return std::span(all).subspan(static_cast<std::size_t>(first),
                                static_cast<std::size_t>(std::min(most, size - first)));
}

template <class Visit>
void visit_results(call& c, const sort_words& words, std::span<const sorted_element> chosen,
                   Visit&& visit) {
  for (const auto& each : chosen) {
    if (words.gets.empty()) visit(std::optional<std::string>(each.text));
    for (const auto& pattern : words.gets) visit(look_up(c, pattern, each.text));
  }
}

void reply_sorted(call& c, const sort_words& words, std::span<const sorted_element> chosen) {
  c.reply.array(chosen.size() * std::max<std::size_t>(words.gets.size(), 1));
  visit_results(c, words, chosen, [&](const std::optional<std::string>& each) {
    if (each) {
      c.reply.bulk(*each);
    } else {
      c.reply.null();
    }
  });
}

void store_sorted(call& c, const sort_words& words, std::span<const sorted_element> chosen) {
  auto made = std::make_unique<list_value>();
  const auto fill = c.home().settings().list_max_pack_size;
  visit_results(c, words, chosen, [&](const std::optional<std::string>& each) {
    made->push(each ? std::string_view(*each) : std::string_view(), false, fill);
  });
  const auto size = made->size();
  const auto target = *words.target;
  const auto hash = hash_of(c[target]);
  c.keys().before_change(c.who.database, c[target]);
  if (size != 0) {
    c.store(entry::make(c[target], std::move(made)), hash);
    c.changed(c[target], event_list, "sortstore", size);
  } else if (entry* const old = c.find_key(c[target], hash)) {
    c.remove(old, hash);
    c.keys().changes().record();
  }
  c.reply.integer(static_cast<std::int64_t>(size));
}

void sort_key(call& c, bool stores) {
  auto how = read_sort_words(c, stores);
  if (!how) return;
  const entry* const found = c.read(1);
  if (found != nullptr && !can_be_sorted(*found)) {
    c.fail(wrong_type_error);
    return;
  }
  auto all = elements_of(found);
  if (!put_in_order(c, *how, found, all)) return;
  const auto chosen = within_limit(*how, all);
  if (how->target) {
    store_sorted(c, *how, chosen);
  } else {
    reply_sorted(c, *how, chosen);
  }
}

void sort(call& c) { sort_key(c, true); }
void sort_ro(call& c) { sort_key(c, false); }

// clang-format off
const command_row sorting_rows[] = {
    {"sort", -2, "write denyoom movablekeys", {1, 1, 1},
     "RO access 1 0 1; RO access ?; OW update ?STORE@2 0 1", "set sortedset list dangerous",
     "1.0.0",
     "returns or stores elements in sorted order", sort},
    {"sort_ro", -2, "readonly movablekeys", {1, 1, 1},
     "RO access 1 0 1; RO access ?", "set sortedset list dangerous", "7.0.0",
     "returns elements in sorted order", sort_ro},
};
// clang-format on

}  // namespace

command_group sorting_commands() { return {"generic", sorting_rows}; }

}  // namespace strata::runtime::cache
