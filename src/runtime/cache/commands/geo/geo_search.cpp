// Searches for points in a circle or a rectangle.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/geo/geo_words.hpp"
#include "runtime/cache/commands/sorted_sets/sorted_set_words.hpp"
#include "runtime/cache/values/leading_sort.hpp"
#include "runtime/cache/values/sorted_set.hpp"

namespace strata::runtime::cache {

namespace {

// --- words

// What a command's words may be.
struct search_form {
  bool names_area = false;   // FROMMEMBER or FROMLONLAT, BYRADIUS or BYBOX: GEOSEARCH
  bool has_target = false;   // word 1 is where the result is stored, word 2 the source
  bool takes_store = false;  // STORE or STOREDIST
  std::size_t first = 2;     // the first option
};

enum class distance_order : std::uint8_t { none, ascending, descending };

struct search_words {
  geo_shape shape;
  bool has_member = false;
  bool has_point = false;
  bool has_radius = false;
  bool has_box = false;
  bool with_distance = false;
  bool with_hash = false;
  bool with_point = false;
  bool takes_any = false;
  distance_order order = distance_order::none;
  std::int64_t count = 0;  // 0: all
  std::optional<std::size_t> target;
  bool stores_distance = false;

  [[nodiscard]] bool has_details() const { return with_distance || with_hash || with_point; }
};

// The functions below read the option at word `index`. They return the number of its words, or 0 if
// it is another or has an error.

std::size_t read_plain_option(const call& c, std::size_t index, const search_form& form,
                              search_words& words) {
  if (c.is(index, "WITHDIST")) {
    words.with_distance = true;
  } else if (c.is(index, "WITHHASH")) {
    words.with_hash = true;
  } else if (c.is(index, "WITHCOORD")) {
    words.with_point = true;
  } else if (c.is(index, "ANY")) {
    words.takes_any = true;
  } else if (c.is(index, "ASC")) {
    words.order = distance_order::ascending;
  } else if (c.is(index, "DESC")) {
    words.order = distance_order::descending;
  } else if (form.has_target && c.is(index, "STOREDIST")) {
    words.stores_distance = true;
  } else {
    return 0;
  }
  return 1;
}

std::size_t read_result_option(call& c, std::size_t index, const search_form& form,
                               search_words& words) {
  if (index + 1 >= c.size()) return 0;
  if (c.is(index, "COUNT")) {
    const auto count = c.integer(index + 1);
    if (!count) return 0;
    words.count = *count;
    if (*count > 0) return 2;
    c.fail("ERR COUNT must be > 0");
    return 0;
  }
  const bool stores_distance = c.is(index, "STOREDIST");
  if (!form.takes_store || (!stores_distance && !c.is(index, "STORE"))) return 0;
  words.stores_distance = stores_distance;
  words.target = index + 1;
  return 2;
}

// Sets the centre to a member's point. Without a source, the other words still need to be right.
bool read_member(call& c, std::size_t index, const sorted_set* source, search_words& words) {
  if (source == nullptr) return true;
  const auto score = source->score_of(c[index]);
  if (score) {
    words.shape.centre = point_of_score(*score);
  } else {
    c.fail("ERR could not decode requested zset member");
  }
  return score.has_value();
}

bool read_centre(call& c, std::size_t index, search_words& words) {
  const auto point = read_point(c, index);
  if (point) words.shape.centre = *point;
  return point.has_value();
}

std::size_t read_area_option(call& c, std::size_t index, const sorted_set* source,
                             search_words& words) {
  const auto behind = c.size() - index - 1;
  if (behind >= 1 && c.is(index, "FROMMEMBER") && !words.has_point) {
    words.has_member = true;
    return read_member(c, index + 1, source, words) ? 2 : 0;
  }
  if (behind >= 2 && c.is(index, "FROMLONLAT") && !words.has_member) {
    words.has_point = true;
    return read_centre(c, index + 1, words) ? 3 : 0;
  }
  if (behind >= 2 && c.is(index, "BYRADIUS") && !words.has_box) {
    words.has_radius = true;
    return read_radius(c, index + 1, words.shape) ? 3 : 0;
  }
  if (behind >= 3 && c.is(index, "BYBOX") && !words.has_radius) {
    words.has_box = true;
    return read_box(c, index + 1, words.shape) ? 4 : 0;
  }
  return 0;
}

bool read_options(call& c, const search_form& form, const sorted_set* source, search_words& words) {
  for (auto i = form.first; i < c.size();) {
    auto size = read_plain_option(c, i, form, words);
    if (size == 0) size = read_result_option(c, i, form, words);
    if (size == 0 && form.names_area && !c.has_failed()) {
      size = read_area_option(c, i, source, words);
    }
    if (size == 0) {
      if (!c.has_failed()) c.fail_syntax();
      return false;
    }
    i += size;
  }
  return true;
}

// Checks that the options are compatible with each other.
bool check_options(call& c, const search_form& form, const search_words& words) {
  const auto name = std::string(c[0]);
  if (words.target && words.has_details()) {
    c.fail(std::string("ERR ") +
           (form.has_target ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS") +
           " is not compatible with WITHDIST, WITHHASH and WITHCOORD options");
  } else if (form.names_area && !words.has_member && !words.has_point) {
    c.fail("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name);
  } else if (form.names_area && !words.has_radius && !words.has_box) {
    c.fail("ERR exactly one of BYRADIUS and BYBOX can be specified for " + name);
  } else if (words.takes_any && words.count == 0) {
    c.fail("ERR the ANY argument requires COUNT argument");
  }
  return !c.has_failed();
}

// --- the search

struct found_point {
  std::string member;
  double score;
  geo_point point;
  double distance;  // in metres
};
using found_points = std::vector<found_point>;

// Adds the points of a cell that are inside the shape, until there are `limit` (0: no limit).
void search_cell(const sorted_set& source, geo_cell cell, const geo_shape& shape, std::size_t limit,
                 found_points& points) {
  const auto scores = scores_of(cell);
  geo_point point;
  std::optional<double> distance;
  const auto is_inside = [&](double score) {
    point = point_of_score(score);
    distance = shape.distance_of(point);
    return distance.has_value();
  };
  source.visit_chosen(score_range{scores.least, scores.most, false, true}, is_inside,
                      [&](std::string_view member, double score) {
                        points.push_back({std::string(member), score, point, *distance});
                        return points.size() != limit;
                      });
}

found_points search(const sorted_set& source, const geo_shape& shape, std::size_t limit) {
  found_points points;
  std::optional<geo_cell> last;
  bool is_first = true;
  for (const auto& cell : cells_covering(shape)) {
    // In a large shape, cells around the first may be the same.
    if (!cell || cell == last) continue;
    if (limit != 0 && points.size() >= limit) break;
    search_cell(source, *cell, shape, limit, points);
    if (!is_first) last = cell;
    is_first = false;
  }
  return points;
}

// Sorts the points, at least the first `count`.
template <class Before>
void sort_points(found_points& points, std::size_t count, Before before) {
  if (count == points.size()) {
    std::ranges::stable_sort(points, before);
  } else {
    leading_sort<found_point, Before>(before).sort(points, count);
  }
}

// Puts the points in the order of the result, and drops those that do not belong to it.
void put_in_order(const search_words& words, found_points& points) {
  const auto count = words.count == 0
                         ? points.size()
                         : std::min(points.size(), static_cast<std::size_t>(words.count));
  auto order = words.order;
  // A count means the nearest ones.
  if (words.count != 0 && !words.takes_any && order == distance_order::none) {
    order = distance_order::ascending;
  }
  if (order == distance_order::ascending) {
    sort_points(points, count, [](const found_point& left, const found_point& right) {
      return left.distance < right.distance;
    });
  } else if (order == distance_order::descending) {
    sort_points(points, count, [](const found_point& left, const found_point& right) {
      return left.distance > right.distance;
    });
  }
  points.resize(count);
}

// --- the result

void reply_points(call& c, const search_words& words, const found_points& points) {
  const auto details = static_cast<std::uint64_t>(words.with_distance) +
                       static_cast<std::uint64_t>(words.with_hash) +
                       static_cast<std::uint64_t>(words.with_point);
  c.reply.array(points.size());
  for (const auto& each : points) {
    if (details != 0) c.reply.array(details + 1);
    c.reply.bulk(each.member);
    if (words.with_distance) reply_distance(c, each.distance / words.shape.unit);
    if (words.with_hash) c.reply.integer(truncate(each.score));
    if (words.with_point) reply_point(c, each.point);
  }
}

void store_points(call& c, const search_form& form, const search_words& words,
                  const found_points& points) {
  const auto key = c[*words.target];
  const auto hash = hash_of(key);
  auto set = std::make_unique<sorted_set>();
  for (const auto& each : points) {
    const auto distance = each.distance / words.shape.unit;
    // The distance of opposite points may not be a number, which no score can be.
    const auto score = !words.stores_distance ? each.score : std::isnan(distance) ? 0 : distance;
    set->put(set->find(each.member), each.member, score, limits_of_sorted_sets(c));
  }
  c.keys().before_change(c.who.database, key);
  if (!points.empty()) {
    c.store(entry::make(key, std::move(set)), hash);
    c.changed(key, event_zset, form.has_target ? "geosearchstore" : "georadiusstore",
              points.size());
  } else if (entry* const old = c.find_key(key, hash)) {
    c.remove(old, hash);
    c.keys().changes().record();
  }
  c.reply.integer(static_cast<std::int64_t>(points.size()));
}

void run_search(call& c, const search_form& form, const sorted_set* source, search_words& words) {
  if (!read_options(c, form, source, words) || !check_options(c, form, words)) return;
  found_points found;
  if (source != nullptr) {
    const auto limit = words.takes_any ? static_cast<std::size_t>(words.count) : 0;
    found = search(*source, words.shape, limit);
  }
  put_in_order(words, found);
  if (words.target) {
    store_points(c, form, words, found);
  } else {
    reply_points(c, words, found);
  }
}

// --- commands

void search_around_point(call& c, bool takes_store) {
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  search_words words;
  if (!read_centre(c, 2, words) || !read_radius(c, 4, words.shape)) return;
  run_search(c, {.takes_store = takes_store, .first = 6}, *found, words);
}

void search_around_member(call& c, bool takes_store) {
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  search_words words;
  // Without a source, Redis does not look at the radius.
  if (*found != nullptr && (!read_member(c, 2, *found, words) || !read_radius(c, 3, words.shape))) {
    return;
  }
  run_search(c, {.takes_store = takes_store, .first = 5}, *found, words);
}

void georadius(call& c) { search_around_point(c, true); }
void georadius_ro(call& c) { search_around_point(c, false); }
void georadiusbymember(call& c) { search_around_member(c, true); }
void georadiusbymember_ro(call& c) { search_around_member(c, false); }

void geosearch(call& c) {
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  search_words words;
  run_search(c, {.names_area = true}, *found, words);
}

void geosearchstore(call& c) {
  const auto found = c.read_as<sorted_set>(2);
  if (!found) return;
  search_words words;
  words.target = 1;
  run_search(c, {.names_area = true, .has_target = true, .first = 3}, *found, words);
}

// clang-format off
const command_row geo_search_rows[] = {
    {"georadius", -6, "write denyoom movablekeys", {1, 1, 1},
     "RO access 1 0 1; OW update STORE@6 0 1; OW update STOREDIST@6 0 1", "geo", "3.2.0",
     "returns or stores the points within a distance of a point", georadius},
    {"georadius_ro", -6, "readonly", {1, 1, 1},
     "RO access 1 0 1", "geo", "3.2.10",
     "returns the points within a distance of a point", georadius_ro},
    {"georadiusbymember", -5, "write denyoom movablekeys", {1, 1, 1},
     "RO access 1 0 1; OW update STORE@5 0 1; OW update STOREDIST@5 0 1", "geo", "3.2.0",
     "returns or stores the points within a distance of a member", georadiusbymember},
    {"georadiusbymember_ro", -5, "readonly", {1, 1, 1},
     "RO access 1 0 1", "geo", "3.2.10",
     "returns the points within a distance of a member", georadiusbymember_ro},
    {"geosearch", -7, "readonly", {1, 1, 1},
     "RO access 1 0 1", "geo", "6.2.0",
     "returns the points within a circle or a rectangle", geosearch},
    {"geosearchstore", -8, "write denyoom", {1, 2, 1},
     "OW update 1 0 1; RO access 2 0 1", "geo", "6.2.0",
     "stores the points within a circle or a rectangle", geosearchstore},
};
// clang-format on

}  // namespace

command_group geo_search_commands() { return {"geo", geo_search_rows}; }

}  // namespace strata::runtime::cache
