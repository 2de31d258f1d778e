// Hashes with fields that expire, in the forms of Redis 7.4; and the packed set of Redis 7.2, which
// is only read. Source: the documents of the format.
#include <algorithm>
#include <array>

#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/values/hash_value.hpp"
#include "runtime/cache/values/set_value.hpp"

namespace strata::runtime::cache::rdb {

namespace {

// A field with its value and its time, 0 if it has none.
struct timed_field {
  std::string_view name;
  std::string_view value;
  std::int64_t at_ms;
};

// The last time of a field, in milliseconds since 1970: Redis has 48 bits for it.
constexpr std::int64_t last_time_ms = (std::int64_t{1} << 48) - 1;

// Adds a field to a hash that is being read; returns false if it exists, or its time is invalid.
bool add_field(hash_value& hash, const timed_field& field, const parameters& settings) {
  const hash_limits limits{settings.hash_max_pack_entries, settings.hash_max_pack_value};
  const std::array<std::string_view, 2> texts = {field.name, field.value};
  hash.fit(texts, limits);
  if (field.at_ms < 0 || field.at_ms > last_time_ms) return false;
  if (!hash.set(field.name, field.value, limits)) return false;
  if (field.at_ms != 0) hash.set_expiry(field.name, field.at_ms);
  return true;
}

}  // namespace

bool writer::has_field_times(const hash_value& value) const {
  return has_field_times_ && value.times() != nullptr;
}

// A pack has the fields in the order of their times, those without one behind the others. In a
// table, a time is what it exceeds the first one by, plus 1.
void writer::timed_hash(const hash_value& value) {
  const auto first_ms = value.times()->first_ms();
  fixed(static_cast<std::uint64_t>(first_ms), 8);
  std::vector<timed_field> fields;
  std::vector<std::string> texts;  // a pack's visitor lends its texts only for a moment
  fields.reserve(value.size());
  texts.reserve(value.size() * 2);
  value.for_each([&](std::string_view name, std::string_view text) {
    const auto& own_name = texts.emplace_back(name);
    const auto& own_text = texts.emplace_back(text);
    fields.push_back({own_name, own_text, value.expiry_of(name).value_or(0)});
  });
  if (!value.is_pack()) {
    length(fields.size());
    for (const auto& each : fields) {
      length(each.at_ms == 0 ? 0 : static_cast<std::uint64_t>(each.at_ms - first_ms + 1));
      string(each.name);
      string(each.value);
    }
    return;
  }
  std::ranges::stable_sort(
      fields, {}, [](const timed_field& each) { return each.at_ms == 0 ? INT64_MAX : each.at_ms; });
  pack packed;
  for (const auto& each : fields) {
    packed.push_back(each.name);
    packed.push_back(each.value);
    packed.push_back(text::integer_text(each.at_ms).view());
  }
  string(packed.dump());
}

std::unique_ptr<collection> reader::read_timed_hash(const parameters& settings) {
  const auto first_ms = fixed(8);
  auto made = std::make_unique<hash_value>();
  for (auto count = length(); count != 0 && !failed_; --count) {
    const auto distance = length();
    const auto name = string();
    const auto value = string();
    if (failed_) break;
    std::int64_t at_ms = 0;
    if (distance != 0) {
      if (__builtin_add_overflow(first_ms, distance - 1, &at_ms)) return fail();
      at_ms = std::max<std::int64_t>(at_ms, 1);
    }
    if (!add_field(*made, {name, value, at_ms}, settings)) return fail();
  }
  return made;
}

std::unique_ptr<collection> reader::read_packed_timed_hash(const parameters& settings) {
  (void)fixed(8);
  const auto loaded = pack::load(string());
  if (!loaded || failed_ || loaded->size() % 3 != 0) return fail();
  auto made = std::make_unique<hash_value>();
  for (auto at = loaded->first(); at != pack::none;) {
    const auto value_at = loaded->next(at);
    const auto time_at = loaded->next(value_at);
    const auto name = loaded->at(at);
    const auto value = loaded->at(value_at);
    const auto at_ms = loaded->integer_at(time_at);
    if (!at_ms || !add_field(*made, {name.text(), value.text(), *at_ms}, settings)) return fail();
    at = loaded->next(time_at);
  }
  return made;
}

std::unique_ptr<collection> reader::read_packed_set(const parameters& settings) {
  const auto loaded = pack::load(string());
  if (!loaded || failed_) return fail();
  auto made = std::make_unique<set_value>();
  for (auto at = loaded->first(); at != pack::none; at = loaded->next(at)) {
    if (!made->insert(loaded->at(at).text(), settings.set_max_integers)) return fail();
  }
  return made;
}

}  // namespace strata::runtime::cache::rdb
