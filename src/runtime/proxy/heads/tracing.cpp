#include "runtime/proxy/heads/tracing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "text/base64.hpp"

namespace strata::runtime::proxy {

namespace {

constexpr std::size_t longest_id = 128;
constexpr std::size_t size_of_version_00 = 55;

std::mt19937_64 well_seeded() {
  std::random_device source;
  std::seed_seq seeds{source(), source(), source(), source(), source(), source()};
  return std::mt19937_64(seeds);
}

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char character) {
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
  });
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= longest_id &&
         std::ranges::all_of(text,
                             [](char character) { return character > ' ' && character < 0x7f; });
}

bool is_traceparent(std::string_view text) {
  if (text.size() < size_of_version_00) return false;
  const auto version = text.substr(0, 2);
  const auto trace = text.substr(3, 32);
  const auto parent = text.substr(36, 16);
  const bool has_marks = text[2] == '-' && text[35] == '-' && text[52] == '-';
  const bool has_end = version == "00"
                           ? text.size() == size_of_version_00
                           : text.size() == size_of_version_00 || text[size_of_version_00] == '-';
  return has_marks && has_end && is_lower_hex(version) && version != "ff" && is_lower_hex(trace) &&
         !is_zero(trace) && is_lower_hex(parent) && !is_zero(parent) &&
         is_lower_hex(text.substr(53, 2));
}

id_maker::id_maker() : draw_(well_seeded()) {}

// Never all zeros, which no part of a traceparent may be.
std::uint64_t id_maker::next() { return std::max<std::uint64_t>(draw_(), 1); }

std::string id_maker::request_id() { return fmt::format("{:016x}{:016x}", next(), next()); }

std::string id_maker::websocket_key() {
  const std::array<std::uint64_t, 2> drawn = {next(), next()};
  return text::base64_encode(std::as_bytes(std::span(drawn)));
}

std::string id_maker::traceparent() {
  return fmt::format("00-{:016x}{:016x}-{:016x}-01", next(), next(), next());
}

}  // namespace strata::runtime::proxy
