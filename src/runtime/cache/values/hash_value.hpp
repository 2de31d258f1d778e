// A hash: a pack of fields and values while it is small, a hash table afterwards; beside them, the
// times at which fields expire, if any does.
#pragma once

#include <memory>
#include <variant>

#include "runtime/cache/values/entry.hpp"
#include "runtime/cache/values/hash_table.hpp"
#include "runtime/cache/values/hashes/field_times.hpp"
#include "runtime/cache/values/pack.hpp"

namespace strata::runtime::cache {

/// A field and its value, in one block of memory.
class hash_field {
 public:
  /// Owned by the caller.
  [[nodiscard]] static hash_field* make(std::string_view name, std::string_view value);
  static void destroy(hash_field* field);
  [[nodiscard]] std::string_view name() const { return {bytes(), name_size_}; }
  [[nodiscard]] std::string_view value() const { return {bytes() + name_size_, value_size_}; }
  /// Sets the value if it fits into this block; reports whether it did.
  [[nodiscard]] bool assign(std::string_view value);
  [[nodiscard]] std::size_t memory() const { return allocation_size(block_size()); }

 private:
  [[nodiscard]] const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  [[nodiscard]] std::size_t block_size() const { return sizeof *this + name_size_ + capacity_; }

  std::uint32_t name_size_ = 0;
  std::uint32_t value_size_ = 0;
  std::uint32_t capacity_ = 0;
};

/// The limits of a small hash: hash-max-listpack-entries and -value.
struct hash_limits {
  std::int64_t entries;
  std::int64_t value;
};

class hash_value final : public collection {
 public:
  static constexpr value_kind kind = value_kind::hash;

  hash_value() = default;
  explicit hash_value(pack fields) : fields_(std::move(fields)) {}
  hash_value(const hash_value& other);
  hash_value& operator=(const hash_value&) = delete;
  ~hash_value() override;

  /// Sets a field, which then does not expire; reports whether it is new.
  bool set(std::string_view name, std::string_view value, const hash_limits& limits);
  /// Removes a field; reports whether it existed.
  bool erase(std::string_view name);
  [[nodiscard]] bool contains(std::string_view name) const;
  /// Visits the field's value; reports whether there is one.
  template <class Visit>
  bool with_value(std::string_view name, Visit&& visit) const {
    if (const auto* const fields = std::get_if<pack>(&fields_)) {
      const auto at = fields->find(name, fields->first(), 2);
      if (at == pack::none) return false;
      visit(fields->at(fields->next(at)).text());
      return true;
    }
    const auto* const place = tabled().find(name);
    if (place == nullptr) return false;
    visit((*place)->value());
    return true;
  }
  // --- fields that expire
  /// Returns the times of the fields that have one; null if none has.
  [[nodiscard]] const field_times* times() const { return times_.get(); }
  /// Returns when the field expires, in milliseconds since 1970; nullopt if it does not.
  [[nodiscard]] std::optional<std::int64_t> expiry_of(std::string_view name) const {
    return times_ == nullptr ? std::nullopt : times_->find(name);
  }
  /// Sets when the field, which must exist, expires.
  void set_expiry(std::string_view name, std::int64_t at_ms);
  /// Makes the field live as long as the hash; reports whether it had a time.
  bool persist(std::string_view name);
  /// Report whether fields have a time that is not later than `now_ms`, and how many.
  [[nodiscard]] bool has_overdue(std::int64_t now_ms) const {
    return times_ != nullptr && times_->first_ms() <= now_ms;
  }
  [[nodiscard]] std::size_t count_overdue(std::int64_t now_ms) const {
    return times_ == nullptr ? 0 : times_->count_until(now_ms);
  }

  /// Converts a small hash to a table if one of these texts is too long for a pack.
  void fit(std::span<const std::string_view> texts, const hash_limits& limits);

  [[nodiscard]] bool is_pack() const { return std::holds_alternative<pack>(fields_); }
  [[nodiscard]] const pack& packed() const { return std::get<pack>(fields_); }

  /// Visits all fields, as (name, value). `visit` must not change the hash.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (const auto* const fields = std::get_if<pack>(&fields_)) {
      for (auto at = fields->first(); at != pack::none;) {
        const auto value_at = fields->next(at);
        visit(fields->at(at).text(), fields->at(value_at).text());
        at = fields->next(value_at);
      }
    } else {
      tabled().for_each([&](const hash_field* each) { visit(each->name(), each->value()); });
    }
  }
  /// Performs a step of HSCAN.
  template <class Visit>
  std::uint64_t scan(std::uint64_t cursor, Visit&& visit) const {
    if (is_pack()) {
      for_each(visit);
      return 0;
    }
    return tabled().scan(cursor,
                         [&](const hash_field* each) { visit(each->name(), each->value()); });
  }
  /// Visits a random field, as (name, value).
  template <class Random, class Visit>
  void with_random(Random& source, Visit&& visit) const {
    if (const auto* const fields = std::get_if<pack>(&fields_)) {
      const auto index = source() % (fields->size() / 2);
      const auto at = fields->seek(static_cast<std::int64_t>(index * 2));
      visit(fields->at(at).text(), fields->at(fields->next(at)).text());
    } else {
      const auto* const any = tabled().random(source);
      visit(any->name(), any->value());
    }
  }

  [[nodiscard]] value_kind type() const override { return kind; }
  [[nodiscard]] std::size_t size() const override;
  [[nodiscard]] std::unique_ptr<collection> clone() const override {
    return std::make_unique<hash_value>(*this);
  }
  [[nodiscard]] std::string_view encoding() const override {
    if (!is_pack()) return "hashtable";
    return times_ == nullptr ? "listpack" : "listpackex";
  }
  [[nodiscard]] std::size_t memory() const override;
  bool shed(std::size_t steps) override;

 private:
  struct key_of {
    static std::string_view key(const hash_field* field) { return field->name(); }
  };
  using table = hash_table<hash_field*, key_of>;
  [[nodiscard]] table& tabled() const { return *std::get<std::unique_ptr<table>>(fields_); }
  void make_table();
  bool set_packed(std::string_view name, std::string_view value);

  // Most hashes are small: the table is in a block of its own.
  std::variant<pack, std::unique_ptr<table>> fields_;
  std::unique_ptr<field_times> times_;  // null: no field expires
};

}  // namespace strata::runtime::cache
