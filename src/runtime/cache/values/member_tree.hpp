// The members of a sorted set in order of score, then of their bytes, with the rank of each: a B+
// tree whose branches know the size below each child. All operations take time proportional to the
// logarithm of the size, plus the visited members.
//
// A node contains the scores of its members, or of the first member below each child, so that a
// search seldom reads the members themselves; such reads are what costs time in a large set.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

/// A member and its score, in one block of memory. A tree owns its members; the creator owns a
/// member that is in no tree.
class scored_member {
 public:
  [[nodiscard]] static scored_member* make(std::string_view member, double score);
  static void destroy(scored_member* member);

  [[nodiscard]] std::string_view member() const {
    return {reinterpret_cast<const char*>(&size_ + 1), size_};
  }
  [[nodiscard]] double score() const { return score_; }
  /// For a member that is in no tree.
  void set_score(double score) { score_ = score; }
  [[nodiscard]] bool is_before(double score, std::string_view member) const {
    return score_ < score || (score_ == score && this->member() < member);
  }
  [[nodiscard]] std::size_t memory() const;

 private:
  friend class member_tree;
  scored_member(double score, std::size_t size)
      : score_(score), size_(static_cast<std::uint32_t>(size)) {}

  double score_;
  std::uint32_t size_;  // of the text, which follows
};

class member_tree {
 private:
  struct node;
  struct leaf;
  struct branch;

 public:
  member_tree() = default;
  member_tree(const member_tree&) = delete;
  member_tree& operator=(const member_tree&) = delete;
  ~member_tree();

  /// The place of a member, until the tree changes; or the one behind the last, or before the
  /// first, member.
  class cursor {
   public:
    [[nodiscard]] bool is_at_member() const { return leaf_ != nullptr; }
    [[nodiscard]] const scored_member& operator*() const;
    [[nodiscard]] const scored_member* operator->() const { return &**this; }
    /// Returns the member's score without reading the member.
    [[nodiscard]] double score() const { return leaf_->scores[index_]; }
    void next();
    void previous();

   private:
    friend class member_tree;
    cursor(const leaf* leaf, unsigned index) : leaf_(leaf), index_(index) {}

    const leaf* leaf_;
    unsigned index_;
  };

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the place of the member of this rank, which must exist.
  [[nodiscard]] cursor at(std::size_t rank) const;
  [[nodiscard]] std::size_t rank_of(const scored_member& member) const;
  /// Returns the number of members for which `is_before(score, member)` is true; these must be the
  /// first ones.
  template <class Before>
  [[nodiscard]] std::size_t count_before(Before&& is_before) const;
  /// Returns the place of the first member for which `is_before(score, member)` is false; those for
  /// which it is true must be the first ones.
  template <class Before>
  [[nodiscard]] cursor first_not(Before&& is_before) const;
  /// Returns the memory of the nodes, without the members.
  [[nodiscard]] std::size_t memory() const;

  /// Takes ownership of `fresh`, which must be in no tree and not equal to another member.
  void insert(scored_member* fresh);
  /// Changes the score of a member, and moves it to its new place.
  void move(scored_member* member, double score);
  void erase(scored_member* member);
  /// Erases `count` members from rank `first` on; calls `on_erase(member)` before each is
  /// destroyed.
  template <class Callback>
  void erase(std::size_t first, std::size_t count, Callback&& on_erase) {
    for (; count != 0; --count) {
      auto place = path_to(first);
      scored_member* const gone = member_at(place);
      on_erase(*gone);
      remove(place);
      scored_member::destroy(gone);
    }
  }

 private:
  static constexpr unsigned capacity = 64;  // of a node
  // With a quarter of the capacity in each node, more members than memory can hold.
  static constexpr unsigned most_levels = 16;

  struct node {
    unsigned count = 0;
    std::array<double, capacity> scores;
    std::array<scored_member*, capacity> members;  // in a branch, the first below each child
  };
  struct leaf final : node {
    leaf* previous = nullptr;
    leaf* next = nullptr;
  };
  struct branch final : node {
    std::array<node*, capacity> children;
    std::array<std::size_t, capacity> sizes;  // the number of members below each child
  };
  struct step {
    node* place;
    unsigned index;
  };
  // The way to a member, from its leaf (level 0) to the root.
  using path = std::array<step, most_levels>;

  template <class Before>
  [[nodiscard]] static unsigned count_in(const node& node, Before&& is_before);
  [[nodiscard]] static bool fits(const path& path, double score, std::string_view member);
  [[nodiscard]] static scored_member* member_at(const path& path) {
    return path[0].place->members[path[0].index];
  }
  [[nodiscard]] path path_to(double score, std::string_view member) const;
  [[nodiscard]] path path_to(std::size_t rank) const;

  static void open_entry(node& node, unsigned level, unsigned index);
  static void close_entry(node& node, unsigned level, unsigned index);
  static void move_entries(node& source, unsigned begin, node& destination, unsigned level);
  [[nodiscard]] std::size_t size_below(const node& node, unsigned level) const;
  void update_first(const path& path, unsigned level) const;
  void split(path& path, unsigned level);
  void insert_child(path& path, unsigned level, node* child);
  void remove(path& path);
  void shrink(path& path, unsigned level);
  void shrink_root();
  void merge(branch& parent, unsigned level, unsigned index);
  void remove_child(branch& parent, unsigned level, unsigned index);
  [[nodiscard]] node* make_node(unsigned level);
  void destroy_node(node* node, unsigned level);
  void destroy_below(node* node, unsigned level);

  node* root_ = nullptr;
  unsigned height_ = 0;  // the number of levels
  std::size_t size_ = 0;
  std::size_t leaves_ = 0;
  std::size_t branches_ = 0;
};

inline const scored_member& member_tree::cursor::operator*() const {
  return *leaf_->members[index_];
}

inline void member_tree::cursor::next() {
  if (++index_ != leaf_->count) return;
  leaf_ = leaf_->next;
  index_ = 0;
}

inline void member_tree::cursor::previous() {
  if (index_ == 0) {
    leaf_ = leaf_->previous;
    index_ = leaf_ == nullptr ? 0 : leaf_->count;
  }
  --index_;
}

template <class Before>
unsigned member_tree::count_in(const node& node, Before&& is_before) {
  unsigned low = 0;
  unsigned high = node.count;
  while (low != high) {
    const unsigned middle = (low + high) / 2;
    if (is_before(node.scores[middle], *node.members[middle])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <class Before>
member_tree::cursor member_tree::first_not(Before&& is_before) const {
  if (root_ == nullptr) return {nullptr, 0};
  const node* place = root_;
  for (unsigned level = height_ - 1; level != 0; --level) {
    const unsigned before = count_in(*place, is_before);
    place = static_cast<const branch&>(*place).children[before == 0 ? 0 : before - 1];
  }
  const auto& last = static_cast<const leaf&>(*place);
  const unsigned before = count_in(last, is_before);
  if (before == last.count) return {last.next, 0};
  return {&last, before};
}

template <class Before>
std::size_t member_tree::count_before(Before&& is_before) const {
  std::size_t count = 0;
  const node* place = root_;
  for (unsigned level = height_; level-- != 0;) {
    const unsigned before = count_in(*place, is_before);
    if (level == 0) return count + before;
    if (before == 0) return count;
    const auto& parent = static_cast<const branch&>(*place);
    for (unsigned i = 0; i + 1 < before; ++i) count += parent.sizes[i];
    place = parent.children[before - 1];
  }
  return count;
}

}  // namespace strata::runtime::cache
