#include "runtime/cache/commands/hashes/hash_fields.hpp"

#include <algorithm>
#include <array>

namespace strata::runtime::cache {

namespace {

// The last time that a field can have in Redis, in milliseconds since 1970: 46 bits.
constexpr std::int64_t last_field_time_ms = (std::int64_t{1} << 46) - 1;

}  // namespace

hash_limits limits_of_hashes(const call& c) {
  const auto& settings = c.home().settings();
  return {settings.hash_max_pack_entries, settings.hash_max_pack_value};
}

std::optional<live_fields> read_live_fields(call& c) {
  const auto found = c.read_as<hash_value>(1);
  if (!found) return {};
  return live_fields(*found, c.now_ms());
}

std::optional<std::span<const std::string_view>> read_field_words(call& c, std::size_t index,
                                                                  std::string_view count_error,
                                                                  std::size_t group) {
  if (!c.is(index, "FIELDS")) {
    c.fail("ERR Mandatory argument FIELDS is missing or not at the right position");
    return {};
  }
  if (index + 1 >= c.size()) {
    c.fail_arity();
    return {};
  }
  const auto count = text::parse_integer(c[index + 1]);
  if (!count || *count < 1) {
    c.fail(count_error);
    return {};
  }
  const auto words = c.words.subspan(index + 2);
  if (static_cast<std::uint64_t>(*count) > words.size() ||
      static_cast<std::uint64_t>(*count) * group != words.size()) {
    c.fail("ERR The `numfields` parameter must match the number of arguments");
    return {};
  }
  return words;
}

std::optional<std::int64_t> read_field_time(call& c, std::size_t index, const expiry_word& unit) {
  const auto value = c.integer(index);
  if (!value) return {};
  if (*value < 0) {
    c.fail("ERR invalid expire time, must be >= 0");
    return {};
  }
  std::int64_t at_ms = *value;
  const bool is_too_large =
      (!unit.is_ms && __builtin_mul_overflow(at_ms, 1000, &at_ms)) ||
      (!unit.is_absolute && __builtin_add_overflow(at_ms, c.now_ms(), &at_ms)) ||
      at_ms > last_field_time_ms;
  if (!is_too_large) return at_ms;
  c.fail("ERR invalid expire time in '" + c.what.full_name() + "' command");
  return {};
}

bool field_time_changes::set(std::string_view name, std::int64_t at_ms) {
  // What was executed elsewhere names a field's removal itself.
  if (at_ms <= call_.now_ms() && !call_.keys().expires_by_leader() && !call_.who.is_replay) {
    erase(name);
    return false;
  }
  // In a snapshot, 0 means that the field has no time.
  at_ms_ = std::max<std::int64_t>(at_ms, 1);
  hash().set_expiry(name, at_ms_);
  dated_.push_back(name);
  return true;
}

void field_time_changes::persist(std::string_view name) {
  if (hash().persist(name)) persisted_.push_back(name);
}

void field_time_changes::erase(std::string_view name) {
  if (hash().erase(name)) erased_.push_back(name);
}

void field_time_changes::propagate(std::string_view command,
                                   std::span<const std::string_view> middle,
                                   std::span<const std::string_view> names) {
  std::vector<std::string_view> words = {command, call_[1]};
  words.insert(words.end(), middle.begin(), middle.end());
  words.insert(words.end(), names.begin(), names.end());
  call_.propagate_list(words);
}

void field_time_changes::finish() {
  const auto hash_number = call_.hash(1);
  if (!dated_.empty()) {
    const text::integer_text time(at_ms_);
    const text::integer_text count(static_cast<std::int64_t>(dated_.size()));
    const std::array<std::string_view, 3> middle = {time.view(), "FIELDS", count.view()};
    call_.changed(call_[1], event_hash, "hexpire", dated_.size());
    propagate("HPEXPIREAT", middle, dated_);
  }
  if (!persisted_.empty()) {
    const text::integer_text count(static_cast<std::int64_t>(persisted_.size()));
    const std::array<std::string_view, 2> middle = {"FIELDS", count.view()};
    call_.changed(call_[1], event_hash, "hpersist", persisted_.size());
    propagate("HPERSIST", middle, persisted_);
  }
  if (!erased_.empty()) {
    call_.changed(call_[1], event_hash, "hdel", erased_.size());
    propagate("HDEL", {}, erased_);
  }
  call_.data().note_field_times(&entry_, hash_number);
  call_.drop_if_empty(1, hash());
}

}  // namespace strata::runtime::cache
