#include "runtime/cache/commands/geo/geo_words.hpp"

#include <fmt/format.h>

#include <cmath>

#include "text/redis_number.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

struct unit_row {
  std::string_view name;
  double metres;
};
constexpr unit_row units[] = {{"m", 1}, {"km", 1000}, {"ft", 0.3048}, {"mi", 1609.34}};

void reply_coordinate(call& c, double degrees) {
  const auto text = text::format_long_real(degrees);
  if (c.reply.is_resp3()) {
    c.reply.raw("," + text + "\r\n");
  } else {
    c.reply.bulk(text);
  }
}

}  // namespace

std::optional<geo_point> read_point(call& c, std::size_t index) {
  const auto longitude = c.real(index);
  const auto latitude = longitude ? c.real(index + 1) : std::nullopt;
  if (!latitude) return {};
  const geo_point point = {*longitude, *latitude};
  if (is_on_grid(point)) return point;
  c.fail(fmt::format("ERR invalid longitude,latitude pair {:f},{:f}", *longitude, *latitude));
  return {};
}

std::optional<double> read_unit(call& c, std::size_t index) {
  for (const auto& each : units) {
    if (text::same_text(each.name, c[index])) return each.metres;
  }
  c.fail("ERR unsupported unit provided. please use M, KM, FT, MI");
  return {};
}

bool read_radius(call& c, std::size_t index, geo_shape& shape) {
  const auto radius = c.real(index, "ERR need numeric radius");
  if (!radius) return false;
  if (*radius < 0) {
    c.fail("ERR radius cannot be negative");
    return false;
  }
  const auto unit = read_unit(c, index + 1);
  if (!unit) return false;
  shape.is_box = false;
  shape.radius = *radius;
  shape.unit = *unit;
  return true;
}

bool read_box(call& c, std::size_t index, geo_shape& shape) {
  const auto width = c.real(index, "ERR need numeric width");
  const auto height = width ? c.real(index + 1, "ERR need numeric height") : std::nullopt;
  if (!height) return false;
  if (*width < 0 || *height < 0) {
    c.fail("ERR height or width cannot be negative");
    return false;
  }
  const auto unit = read_unit(c, index + 2);
  if (!unit) return false;
  shape.is_box = true;
  shape.width = *width;
  shape.height = *height;
  shape.unit = *unit;
  return true;
}

void reply_point(call& c, geo_point point) {
  c.reply.array(2);
  reply_coordinate(c, point.longitude);
  reply_coordinate(c, point.latitude);
}

// Redis rounds the product: the digits are not always those of the exact value.
void reply_distance(call& c, double distance) {
  constexpr std::int64_t unit = 10'000;
  const auto scaled = truncate(std::nearbyint(distance * static_cast<double>(unit)));
  const auto magnitude =
      scaled < 0 ? 0 - static_cast<std::uint64_t>(scaled) : static_cast<std::uint64_t>(scaled);
  c.reply.bulk(
      fmt::format("{}{}.{:04}", scaled < 0 ? "-" : "", magnitude / unit, magnitude % unit));
}

}  // namespace strata::runtime::cache
