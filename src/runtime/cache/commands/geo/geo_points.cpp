// Commands on points: members of sorted sets, whose scores are cells of a grid on the earth.
#include <string>
#include <vector>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/geo/geo_words.hpp"
#include "runtime/cache/values/sorted_set.hpp"

namespace strata::runtime::cache {

namespace {

// --- GEOADD

struct add_words {
  std::size_t first = 2;  // the word with the first longitude
  bool is_valid = true;
};

add_words read_add_words(const call& c) {
  add_words read;
  bool if_absent = false;
  bool if_present = false;
  for (; read.first < c.size(); ++read.first) {
    if (c.is(read.first, "NX")) {
      if_absent = true;
    } else if (c.is(read.first, "XX")) {
      if_present = true;
    } else if (!c.is(read.first, "CH")) {
      break;
    }
  }
  read.is_valid = (c.size() - read.first) % 3 == 0 && !(if_absent && if_present);
  return read;
}

// Executes, and propagates, ZADD with the same options.
void geoadd(call& c) {
  const auto read = read_add_words(c);
  if (!read.is_valid) {
    c.fail_syntax();
    return;
  }
  std::vector<text::integer_text> scores;
  scores.reserve((c.size() - read.first) / 3);
  std::vector<std::string_view> words(c.words.begin(),
                                      c.words.begin() + static_cast<std::ptrdiff_t>(read.first));
  words[0] = "zadd";
  for (auto i = read.first; i < c.size(); i += 3) {
    const auto point = read_point(c, i);
    if (!point) return;
    const auto number = static_cast<std::int64_t>(cell_of(*point).number);
    words.push_back(scores.emplace_back(number).view());
    words.push_back(c[i + 2]);
  }
  const auto own_words = c.words;
  const auto changes = c.keys().changes().total();
  c.words = words;
  find_command("zadd")->run(c);
  c.words = own_words;
  if (c.keys().changes().total() != changes) c.propagate_list(words);
}

// --- members' points

std::optional<geo_point> point_of(const sorted_set* set, std::string_view member) {
  const auto score = set == nullptr ? std::nullopt : set->score_of(member);
  return score ? std::optional(point_of_score(*score)) : std::nullopt;
}

void geodist(call& c) {
  const auto unit = c.size() == 5 ? read_unit(c, 4) : std::optional(1.0);
  if (!unit) return;
  if (c.size() > 5) {
    c.fail_syntax();
    return;
  }
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  const auto first = point_of(*found, c[2]);
  const auto second = point_of(*found, c[3]);
  if (first && second) {
    reply_distance(c, distance_between(*first, *second) / *unit);
  } else {
    c.reply.null();
  }
}

// Returns the usual form of a geohash. It has eleven digits, of which 52 bits give only ten.
std::string geohash_of(geo_point point) {
  constexpr std::string_view digits = "0123456789bcdefghjkmnpqrstuvwxyz";
  constexpr unsigned digit_bits = 5;
  const auto number = cell_of(point, geo_cell::max_depth, geohash_latitudes).number;
  std::string text;
  for (unsigned shift = 2 * geo_cell::max_depth - digit_bits; text.size() < 10;
       shift -= digit_bits) {
    text += digits[number >> shift & 0x1FU];
  }
  return text + digits[0];
}

void geohash(call& c) {
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  c.reply.array(c.size() - 2);
  for (const auto& each : c.words.subspan(2)) {
    if (const auto point = point_of(*found, each)) {
      c.reply.bulk(geohash_of(*point));
    } else {
      c.reply.null();
    }
  }
}

void geopos(call& c) {
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  c.reply.array(c.size() - 2);
  for (const auto& each : c.words.subspan(2)) {
    if (const auto point = point_of(*found, each)) {
      reply_point(c, *point);
    } else {
      c.reply.null_array();
    }
  }
}

// clang-format off
const command_row geo_rows[] = {
    {"geoadd", -5, "write denyoom", {1, 1, 1},
     "RW update 1 0 1", "geo", "3.2.0",
     "adds points to a sorted set or moves them", geoadd},
    {"geodist", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "geo", "3.2.0",
     "returns the distance between two points", geodist},
    {"geohash", -2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "geo", "3.2.0",
     "returns the geohashes of points", geohash},
    {"geopos", -2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "geo", "3.2.0",
     "returns the longitudes and latitudes of points", geopos},
};
// clang-format on

}  // namespace

command_group geo_commands() { return {"geo", geo_rows}; }

}  // namespace strata::runtime::cache
