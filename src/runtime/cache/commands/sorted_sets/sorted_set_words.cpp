#include "runtime/cache/commands/sorted_sets/sorted_set_words.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

namespace strata::runtime::cache {

namespace {

// Parses a range's end in all of C's number notations: more are allowed than in a score.
std::optional<double> parse_range_end(std::string_view text) {
  if (const auto usual = text::parse_real(text)) return usual;
  const std::string ended(text);
  char* end = nullptr;
  const double value = std::strtod(ended.c_str(), &end);
  if (*end != '\0' || std::isnan(value)) return {};
  return value;
}

// A leading "(" excludes the bound.
std::optional<double> parse_score_bound(std::string_view text, bool& is_without) {
  is_without = text.starts_with('(');
  return parse_range_end(text.substr(is_without ? 1 : 0));
}

std::optional<lex_bound> parse_lex_bound(std::string_view text) {
  using enum lex_bound::kind;
  if (text == "-") return lex_bound{least, {}};
  if (text == "+") return lex_bound{most, {}};
  if (text.starts_with('[')) return lex_bound{member, text.substr(1)};
  if (text.starts_with('(')) return lex_bound{beside_member, text.substr(1)};
  return {};
}

}  // namespace

sorted_set_limits limits_of_sorted_sets(const call& c) {
  const auto& settings = c.home().settings();
  return {settings.sorted_set_max_pack_entries, settings.sorted_set_max_pack_value};
}

std::optional<score_range> read_score_range(call& c, std::size_t least, std::size_t most) {
  score_range read{};
  const auto from = parse_score_bound(c[least], read.without_least);
  const auto to = parse_score_bound(c[most], read.without_most);
  if (!from || !to) {
    c.fail("ERR min or max is not a float");
    return {};
  }
  read.least = *from;
  read.most = *to;
  return read;
}

std::optional<lex_range> read_lex_range(call& c, std::size_t least, std::size_t most) {
  const auto from = parse_lex_bound(c[least]);
  const auto to = parse_lex_bound(c[most]);
  if (!from || !to) {
    c.fail("ERR min or max not valid string range item");
    return {};
  }
  return lex_range{*from, *to};
}

void begin_members(call& c, std::size_t count, bool with_scores) {
  c.reply.array(with_scores && !c.reply.is_resp3() ? count * 2 : count);
}

void store_sorted_set(call& c, std::unique_ptr<sorted_set> set, std::string_view event) {
  const auto size = set->size();
  const auto hash = c.hash(1);
  if (size != 0) {
    c.store(entry::make(c[1], std::move(set)), hash);
    c.changed(c[1], event_zset, event);
  } else if (entry* const old = c.find(1)) {
    c.remove(old, hash);
    c.keys().changes().record();
  }
  c.reply.integer(static_cast<std::int64_t>(size));
}

}  // namespace strata::runtime::cache
