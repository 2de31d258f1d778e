// The members of a sorted set in order of score, then of their bytes, with the rank of each: a skip
// list whose links know their span. All operations take time proportional to the logarithm of the
// size, plus the visited members.
//
// A link contains the score of its target, so that passing a node does not read it; such reads are
// what costs time in a large set.
//
// Source: W. Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees", and its "Cookbook"
// for the ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

/// A member and its score, in one block of memory with its links. A list owns its linked members;
/// the creator owns a member that is not linked.
class scored_member {
 public:
  [[nodiscard]] static scored_member* make(std::string_view member, double score);
  static void destroy(scored_member* member);

  [[nodiscard]] std::string_view member() const {
    return {reinterpret_cast<const char*>(links() + height_), size_};
  }
  [[nodiscard]] double score() const { return score_; }
  /// For a member that is not linked.
  void set_score(double score) { score_ = score; }
  /// Null behind the last member, and before the first.
  [[nodiscard]] const scored_member* next() const { return links()[0].next; }
  [[nodiscard]] const scored_member* previous() const { return previous_; }
  [[nodiscard]] bool is_before(double score, std::string_view member) const {
    return score_ < score || (score_ == score && this->member() < member);
  }
  [[nodiscard]] std::size_t memory() const;

 private:
  friend class skip_list;
  static constexpr unsigned most_height = 20;
  struct link {
    scored_member* next;
    double next_score;
    std::size_t span;  // by how much the rank of `next` is higher; unused without a next
  };

  scored_member() = default;
  static scored_member* make(std::string_view member, double score, unsigned height);
  [[nodiscard]] link* links() { return reinterpret_cast<link*>(this + 1); }
  [[nodiscard]] const link* links() const { return reinterpret_cast<const link*>(this + 1); }
  [[nodiscard]] std::size_t block_size() const {
    return sizeof *this + height_ * sizeof(link) + size_;
  }

  double score_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t height_ = 0;
  scored_member* previous_ = nullptr;
};

class skip_list {
 public:
  /// A place in the list; at its end, null and the size.
  struct position {
    scored_member* node;
    std::size_t rank;
  };

  skip_list();
  skip_list(const skip_list&) = delete;
  skip_list& operator=(const skip_list&) = delete;
  ~skip_list();

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] scored_member* first() const { return head_->links()[0].next; }
  [[nodiscard]] scored_member* last() const { return last_; }
  [[nodiscard]] scored_member* at(std::size_t rank) const;
  [[nodiscard]] std::size_t rank_of(const scored_member& node) const;
  /// Returns the first node for which `is_before(score, node)` is false; it must be true for all
  /// before.
  template <class Before>
  [[nodiscard]] position seek(Before&& is_before) const {
    // Many ranges extend to the end, which is checked first.
    if (last_ != nullptr && is_before(last_->score_, *last_)) return {nullptr, size_};
    std::size_t rank = 0;
    const scored_member* at = head_;
    const scored_member* stop = nullptr;
    for (unsigned level = height_; level-- != 0;) {
      const auto* link = &at->links()[level];
      while (link->next != stop && is_before(link->next_score, *link->next)) {
        rank += link->span;
        at = link->next;
        link = &at->links()[level];
      }
      stop = link->next;
    }
    return {at->links()[0].next, rank};
  }

  /// Takes ownership of `fresh`, which must not be linked or equal to another member.
  void insert(scored_member* fresh);
  /// Changes the score of `node`, and moves it to its new place.
  void move(scored_member* node, double score);
  void erase(scored_member* node);
  /// Erases `count` members from rank `first` on; calls `gone(node)` before each is destroyed.
  template <class Gone>
  void erase(std::size_t first, std::size_t count, Gone&& gone) {
    const path before = path_to(first);
    while (count-- != 0) {
      scored_member* const node = before[0].node->links()[0].next;
      gone(*node);
      unlink(before, node);
      scored_member::destroy(node);
    }
  }

 private:
  // The last node before some place on each level, with its rank counted from 1 (0: the head).
  using path = std::array<position, scored_member::most_height>;

  [[nodiscard]] path path_to(double score, std::string_view member) const;
  [[nodiscard]] path path_to(std::size_t rank) const;
  [[nodiscard]] bool fits_between(const scored_member& node, double score) const;
  void link(scored_member* node);
  void unlink(const path& before, scored_member* node);

  scored_member* head_;
  scored_member* last_ = nullptr;
  std::size_t size_ = 0;
  unsigned height_ = 1;
};

}  // namespace strata::runtime::cache
