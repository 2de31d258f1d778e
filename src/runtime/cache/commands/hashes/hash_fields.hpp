// What the commands on hashes share: the limits of small hashes, the fields of a hash that have not
// expired, and the words FIELDS COUNT FIELD… of the commands on fields that expire.
#pragma once

#include <span>
#include <vector>

#include "runtime/cache/commands/expiry_words.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/values/hash_value.hpp"

namespace strata::runtime::cache {

[[nodiscard]] hash_limits limits_of_hashes(const call& c);

/// The fields of a hash that have not expired. A follower keeps expired fields until its leader
/// removes them, and its clients must not see them; elsewhere nothing has to be left out, since the
/// keyspace removes such fields when it finds the key.
class live_fields {
 public:
  /// `hash` may be null, which has no fields.
  live_fields(const hash_value* hash, std::int64_t now_ms)
      : hash_(hash), now_ms_(now_ms), is_filtered_(hash != nullptr && hash->has_overdue(now_ms)) {}

  [[nodiscard]] std::size_t size() const {
    if (hash_ == nullptr) return 0;
    return is_filtered_ ? hash_->size() - hash_->count_overdue(now_ms_) : hash_->size();
  }
  [[nodiscard]] bool is_live(std::string_view name) const {
    return !is_filtered_ || hash_->expiry_of(name).value_or(INT64_MAX) > now_ms_;
  }
  [[nodiscard]] bool contains(std::string_view name) const {
    return hash_ != nullptr && is_live(name) && hash_->contains(name);
  }
  /// As the functions of hash_value with these names.
  template <class Visit>
  bool with_value(std::string_view name, Visit&& visit) const {
    return hash_ != nullptr && is_live(name) && hash_->with_value(name, visit);
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (hash_ == nullptr) return;
    hash_->for_each([&](std::string_view name, std::string_view value) {
      if (is_live(name)) visit(name, value);
    });
  }
  template <class Visit>
  std::uint64_t scan(std::uint64_t cursor, Visit&& visit) const {
    return hash_->scan(cursor, [&](std::string_view name, std::string_view value) {
      if (is_live(name)) visit(name, value);
    });
  }
  /// Visits none if there is no field.
  template <class Random, class Visit>
  void with_random(Random& source, Visit&& visit) const {
    const auto count = size();
    if (count == 0) return;
    if (!is_filtered_) {
      hash_->with_random(source, visit);
      return;
    }
    auto skipped = source() % count;
    for_each([&](std::string_view name, std::string_view value) {
      if (skipped-- == 0) visit(name, value);
    });
  }

 private:
  const hash_value* hash_;
  std::int64_t now_ms_;
  bool is_filtered_;
};

/// Returns the fields of the hash at word 1, for a command that reads. Nullopt after an error.
[[nodiscard]] std::optional<live_fields> read_live_fields(call& c);

/// The texts of the errors about a wrong count of fields, which differ between commands.
inline constexpr std::string_view no_positive_fields_error =
    "ERR Number of fields must be a positive integer";
inline constexpr std::string_view no_positive_number_error =
    "ERR Parameter `numFields` should be greater than 0";

/// Reads FIELDS, a number, and that many groups of `group` words, from word `index` to the end.
/// Returns the groups' words, or nullopt after an error.
[[nodiscard]] std::optional<std::span<const std::string_view>> read_field_words(
    call& c, std::size_t index, std::string_view count_error = no_positive_fields_error,
    std::size_t group = 1);

/// Reads the time at word `index`; returns it in milliseconds since 1970, or nullopt after an
/// error. Unlike the time of a key it may be 0, or over.
[[nodiscard]] std::optional<std::int64_t> read_field_time(call& c, std::size_t index,
                                                          const expiry_word& unit);

/// Changes the times of a hash's fields, and then reports and propagates all changes together.
class field_time_changes {
 public:
  /// `entry` is the hash at word 1.
  field_time_changes(call& c, entry& entry) : call_(c), entry_(entry) {}

  /// Sets the time of an existing field. A time that is over removes the field: then returns false.
  bool set(std::string_view name, std::int64_t at_ms);
  void persist(std::string_view name);
  void erase(std::string_view name);
  /// Call it once, at the end: the hash may be gone afterwards.
  void finish();

 private:
  [[nodiscard]] hash_value& hash() const { return entry_.as<hash_value>(); }
  void propagate(std::string_view command, std::span<const std::string_view> middle,
                 std::span<const std::string_view> names);

  call& call_;
  entry& entry_;
  std::int64_t at_ms_ = 0;  // the same for all of a command's fields
  std::vector<std::string_view> dated_;
  std::vector<std::string_view> persisted_;
  std::vector<std::string_view> erased_;
};

}  // namespace strata::runtime::cache
