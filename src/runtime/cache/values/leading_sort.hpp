// Sorts only as much as is needed for the first elements of a range. Equal elements end up in the
// order in which Redis leaves them, so that the same ones are among the first.
//
// Source: J. L. Bentley and M. D. McIlroy, "Engineering a Sort Function": a quicksort with a
// partition in three, of which only the parts that reach the wanted elements are sorted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace strata::runtime::cache {

template <class Element, class Before>
class leading_sort {
 public:
  explicit leading_sort(Before before) : before_(std::move(before)) {}

  /// Puts the first `count` elements in order; the others come after them in any order.
  void sort(std::span<Element> all, std::size_t count) const {
    while (count != 0 && all.size() >= small) {
      std::swap(all[0], all[pivot_of(all)]);
      const auto [lower, upper] = divide(all);
      // Elements that equal the pivot are in their places.
      const auto done = all.size() - upper;
      const auto upper_count = count > done ? count - done : 0;
      const auto lower_count = std::min(count, lower);
      // The smaller part is sorted first, so that no order of the elements nests this deeply.
      if (lower < upper) {
        sort(all.first(lower), lower_count);
        all = all.subspan(done);
        count = upper_count;
      } else {
        sort(all.subspan(done), upper_count);
        all = all.first(lower);
        count = lower_count;
      }
    }
    if (count != 0) sort_small(all);
  }

 private:
  static constexpr std::size_t small = 7;
  static constexpr std::size_t large = 40;

  void sort_small(std::span<Element> all) const {
    for (std::size_t i = 1; i < all.size(); ++i) {
      for (auto at = i; at > 0 && before_(all[at], all[at - 1]); --at) {
        std::swap(all[at], all[at - 1]);
      }
    }
  }
  [[nodiscard]] std::size_t median(std::span<const Element> all, std::size_t first,
                                   std::size_t second, std::size_t third) const {
    if (before_(all[first], all[second])) {
      if (before_(all[second], all[third])) return second;
      return before_(all[first], all[third]) ? third : first;
    }
    if (before_(all[third], all[second])) return second;
    return before_(all[first], all[third]) ? first : third;
  }
  [[nodiscard]] std::size_t pivot_of(std::span<const Element> all) const {
    auto middle = all.size() / 2;
    if (all.size() == small) return middle;
    std::size_t first = 0;
    auto last = all.size() - 1;
    if (all.size() > large) {
      const auto step = all.size() / 8;
      first = median(all, first, first + step, first + 2 * step);
      middle = median(all, middle - step, middle, middle + step);
      last = median(all, last - 2 * step, last - step, last);
    }
    return median(all, first, middle, last);
  }
  // Partitions by the first element. Returns the numbers of elements before and after it; those
  // that equal it are in between. They are first collected at both ends.
  std::pair<std::size_t, std::size_t> divide(std::span<Element> all) const {
    std::size_t equal_left = 1;
    std::size_t left = 1;
    auto right = all.size();  // the last element to look at is before it
    auto equal_right = all.size();
    while (true) {
      while (left < right && !before_(all[0], all[left])) {
        if (!before_(all[left], all[0])) std::swap(all[equal_left++], all[left]);
        ++left;
      }
      while (left < right && !before_(all[right - 1], all[0])) {
        if (!before_(all[0], all[right - 1])) std::swap(all[right - 1], all[--equal_right]);
        --right;
      }
      if (left == right) break;
      std::swap(all[left++], all[--right]);
    }
    const auto lower = left - equal_left;
    const auto upper = equal_right - right;
    swap_ends(all.first(left), std::min(equal_left, lower));
    swap_ends(all.subspan(right), std::min(upper, all.size() - equal_right));
    return {lower, upper};
  }
  static void swap_ends(std::span<Element> part, std::size_t count) {
    std::swap_ranges(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count),
                     part.end() - static_cast<std::ptrdiff_t>(count));
  }

  Before before_;
};

}  // namespace strata::runtime::cache
