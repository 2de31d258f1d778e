// A list: a row of packs of some 8 KiB, so that both ends are near and little memory is needed.
#pragma once

#include <boost/container/small_vector.hpp>

#include "runtime/cache/values/charged_allocator.hpp"
#include "runtime/cache/values/entry.hpp"
#include "runtime/cache/values/pack.hpp"

namespace strata::runtime::cache {

class list_value final : public collection {
 public:
  static constexpr value_kind kind = value_kind::list;
  /// Most lists are small, with one pack.
  using packs = boost::container::small_vector<pack, 1, charged_allocator<pack>>;

  /// The place of an element; valid until the list changes.
  struct place {
    std::size_t node = 0;
    pack::offset at = pack::none;
    [[nodiscard]] explicit operator bool() const { return at != pack::none; }
  };

  /// `fill` as in list-max-listpack-size: elements per pack, or if negative -1 to -5 for 4 to 64
  /// KiB.
  void push(std::string_view text, bool at_front, std::int64_t fill);
  /// Returns the element at an end; the list must not be empty.
  [[nodiscard]] element end(bool at_front) const;
  void pop(bool at_front);

  /// Finds an element by its index, counted from the end if negative; the place is false if there
  /// is none.
  [[nodiscard]] place seek(std::int64_t index) const;
  [[nodiscard]] place first() const { return seek(0); }
  [[nodiscard]] place next(place place) const;
  [[nodiscard]] place previous(place place) const;
  [[nodiscard]] element at(place place) const { return nodes_[place.node].at(place.at); }
  [[nodiscard]] bool equals(place place, std::string_view text) const {
    return nodes_[place.node].equals(place.at, text);
  }

  /// Inserts before the element at `place`, which must exist, or behind it.
  void insert(place place, std::string_view text, bool is_behind, std::int64_t fill);
  void replace(place place, std::string_view text);
  /// Erases an element; returns the place of the next one.
  place erase(place place);
  /// As `erase`, but returns the place of the previous element.
  place erase_backwards(place place);
  /// Erases `count` elements from index `first` on.
  void erase_range(std::size_t first, std::size_t count);

  [[nodiscard]] const packs& nodes() const { return nodes_; }
  /// Appends a pack of elements at the end.
  void append(pack&& node);

  [[nodiscard]] value_kind type() const override { return kind; }
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::unique_ptr<collection> clone() const override {
    return std::make_unique<list_value>(*this);
  }
  [[nodiscard]] std::string_view encoding() const override { return "quicklist"; }
  [[nodiscard]] std::size_t memory() const override;
  bool shed(std::size_t steps) override;

 private:
  void insert_between(std::size_t node, std::string_view text, bool is_behind, std::int64_t fill);
  void split(place place);
  void merge_around(std::size_t center, std::int64_t fill);
  bool merge(std::size_t first, std::int64_t fill);

  // Each has 8 KiB of elements; there are so few that moving all of them for a new first one is
  // rare and quick.
  packs nodes_;
  std::size_t size_ = 0;
};

}  // namespace strata::runtime::cache
