// A set: sorted integers while it is small and contains only integers, a hash table afterwards.
#pragma once

#include <cassert>
#include <memory>
#include <variant>

#include "runtime/cache/values/entry.hpp"
#include "runtime/cache/values/hash_table.hpp"
#include "runtime/cache/values/int_set.hpp"
#include "runtime/cache/values/text_item.hpp"
#include "text/redis_number.hpp"

namespace strata::runtime::cache {

class set_value final : public collection {
 public:
  static constexpr value_kind kind = value_kind::set;

  set_value() = default;
  explicit set_value(int_set integers) : members_(std::move(integers)) {}
  set_value(const set_value& other);
  set_value& operator=(const set_value&) = delete;
  ~set_value() override;

  /// Inserts a member; reports whether it is new. `most_integers` as in set-max-intset-entries.
  bool insert(std::string_view member, std::int64_t most_integers);
  /// Removes a member; reports whether it existed.
  bool erase(std::string_view member);
  [[nodiscard]] bool contains(std::string_view member) const;

  [[nodiscard]] bool is_integers() const { return std::holds_alternative<int_set>(members_); }
  [[nodiscard]] const int_set& integers() const { return std::get<int_set>(members_); }

  /// Visits all members, as text. `visit` must not change the set.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (is_integers()) {
      const auto& all = integers();
      for (std::size_t i = 0; i < all.size(); ++i) visit(text::integer_text(all[i]).view());
    } else {
      tabled().for_each([&](const text_item* each) { visit(each->text()); });
    }
  }
  /// Performs a step of SSCAN.
  template <class Visit>
  std::uint64_t scan(std::uint64_t cursor, Visit&& visit) const {
    if (!is_integers()) {
      return tabled().scan(cursor, [&](const text_item* each) { visit(each->text()); });
    }
    for_each(visit);
    return 0;
  }
  /// Visits a random member.
  template <class Random, class Visit>
  void with_random(Random& source, Visit&& visit) const {
    if (is_integers()) {
      const auto& all = integers();
      assert(all.size() != 0);  // a key whose value has no elements is removed
      visit(text::integer_text(all[source() % all.size()]).view());
    } else {
      visit(tabled().random(source)->text());
    }
  }

  [[nodiscard]] value_kind type() const override { return kind; }
  [[nodiscard]] std::size_t size() const override;
  [[nodiscard]] std::unique_ptr<collection> clone() const override {
    return std::make_unique<set_value>(*this);
  }
  [[nodiscard]] std::string_view encoding() const override {
    return is_integers() ? "intset" : "hashtable";
  }
  [[nodiscard]] std::size_t memory() const override;
  bool shed(std::size_t steps) override;

 private:
  using table = hash_table<text_item*, key_of_text>;
  void make_table();
  [[nodiscard]] table& tabled() const { return *std::get<std::unique_ptr<table>>(members_); }

  // Most sets are small: the table is in a block of its own.
  std::variant<int_set, std::unique_ptr<table>> members_;
};

}  // namespace strata::runtime::cache
