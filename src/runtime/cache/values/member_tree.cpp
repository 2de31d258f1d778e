#include "runtime/cache/values/member_tree.hpp"

#include <algorithm>
#include <new>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::size_t head_size = sizeof(double) + sizeof(std::uint32_t);

}  // namespace

scored_member* scored_member::make(std::string_view member, double score) {
  const auto size = std::max(head_size + member.size(), sizeof(scored_member));
  auto* const fresh = new (allocate(size)) scored_member(score, member.size());
  copy_text(&fresh->size_ + 1, member);
  return fresh;
}

void scored_member::destroy(scored_member* member) {
  release(member, std::max(head_size + member->size_, sizeof(scored_member)));
}

std::size_t scored_member::memory() const {
  return allocation_size(std::max(head_size + size_, sizeof(scored_member)));
}

// --- nodes

member_tree::node* member_tree::make_node(unsigned level) {
  if (level == 0) {
    ++leaves_;
    return new (allocate(sizeof(leaf))) leaf;
  }
  ++branches_;
  return new (allocate(sizeof(branch))) branch;
}

void member_tree::destroy_node(node* node, unsigned level) {
  if (level == 0) {
    --leaves_;
    release(node, sizeof(leaf));
  } else {
    --branches_;
    release(node, sizeof(branch));
  }
}

void member_tree::destroy_below(node* node, unsigned level) {
  for (unsigned i = 0; i < node->count; ++i) {
    if (level == 0) {
      scored_member::destroy(node->members[i]);
    } else {
      destroy_below(static_cast<branch*>(node)->children[i], level - 1);
    }
  }
  destroy_node(node, level);
}

member_tree::~member_tree() {
  if (root_ != nullptr) destroy_below(root_, height_ - 1);
}

std::size_t member_tree::memory() const {
  return leaves_ * allocation_size(sizeof(leaf)) + branches_ * allocation_size(sizeof(branch));
}

std::size_t member_tree::size_below(const node& node, unsigned level) const {
  if (level == 0) return node.count;
  const auto& sizes = static_cast<const branch&>(node).sizes;
  std::size_t size = 0;
  for (unsigned i = 0; i < node.count; ++i) size += sizes[i];
  return size;
}

void member_tree::open_entry(node& node, unsigned level, unsigned index) {
  const auto shift = [&](auto& entries) {
    std::copy_backward(entries.begin() + index, entries.begin() + node.count,
                       entries.begin() + node.count + 1);
  };
  shift(node.scores);
  shift(node.members);
  if (level != 0) {
    shift(static_cast<branch&>(node).children);
    shift(static_cast<branch&>(node).sizes);
  }
  ++node.count;
}

void member_tree::close_entry(node& node, unsigned level, unsigned index) {
  const auto shift = [&](auto& entries) {
    std::copy(entries.begin() + index + 1, entries.begin() + node.count, entries.begin() + index);
  };
  shift(node.scores);
  shift(node.members);
  if (level != 0) {
    shift(static_cast<branch&>(node).children);
    shift(static_cast<branch&>(node).sizes);
  }
  --node.count;
}

// Moves the entries from `begin` on behind those of `destination`.
void member_tree::move_entries(node& source, unsigned begin, node& destination, unsigned level) {
  const auto move = [&](const auto& entries, auto& others) {
    std::copy(entries.begin() + begin, entries.begin() + source.count,
              others.begin() + destination.count);
  };
  move(source.scores, destination.scores);
  move(source.members, destination.members);
  if (level != 0) {
    move(static_cast<branch&>(source).children, static_cast<branch&>(destination).children);
    move(static_cast<branch&>(source).sizes, static_cast<branch&>(destination).sizes);
  }
  destination.count += source.count - begin;
  source.count = begin;
}

// --- places

member_tree::path member_tree::path_to(double score, std::string_view member) const {
  path found;
  node* place = root_;
  for (unsigned level = height_; level-- != 0;) {
    if (level == 0) {
      found[0] = {place, count_in(*place, [&](double each_score, const scored_member& each) {
                    return each_score < score || (each_score == score && each.member() < member);
                  })};
      break;
    }
    const unsigned before = count_in(*place, [&](double each_score, const scored_member& each) {
      return each_score < score || (each_score == score && each.member() <= member);
    });
    const unsigned index = before == 0 ? 0 : before - 1;
    found[level] = {place, index};
    place = static_cast<branch*>(place)->children[index];
  }
  return found;
}

member_tree::path member_tree::path_to(std::size_t rank) const {
  path found;
  node* place = root_;
  for (unsigned level = height_; level-- != 0;) {
    unsigned index = 0;
    if (level == 0) {
      found[0] = {place, static_cast<unsigned>(rank)};
      break;
    }
    const auto& parent = static_cast<branch&>(*place);
    for (; rank >= parent.sizes[index]; ++index) rank -= parent.sizes[index];
    found[level] = {place, index};
    place = parent.children[index];
  }
  return found;
}

member_tree::cursor member_tree::at(std::size_t rank) const {
  const auto place = path_to(rank)[0];
  return {static_cast<const leaf*>(place.place), place.index};
}

std::size_t member_tree::rank_of(const scored_member& member) const {
  return count_before([&](double score, const scored_member& each) {
    return score < member.score_ || (score == member.score_ && each.member() < member.member());
  });
}

// --- insertion

void member_tree::insert(scored_member* fresh) {
  if (root_ == nullptr) {
    root_ = make_node(0);
    height_ = 1;
  }
  auto place = path_to(fresh->score_, fresh->member());
  if (place[0].place->count == capacity) split(place, 0);
  auto& [node, index] = place[0];
  open_entry(*node, 0, index);
  node->scores[index] = fresh->score_;
  node->members[index] = fresh;
  ++size_;
  for (unsigned level = 1; level < height_; ++level) {
    ++static_cast<branch*>(place[level].place)->sizes[place[level].index];
  }
  if (index == 0) update_first(place, 0);
}

// The first member of the node at `level` has changed: its ancestors contain it too.
void member_tree::update_first(const path& path, unsigned level) const {
  const auto& first = *path[level].place;
  for (++level; level < height_; ++level) {
    auto& [parent, index] = path[level];
    parent->scores[index] = first.scores[0];
    parent->members[index] = first.members[0];
    if (index != 0) return;
  }
}

// Splits the full node at `level`, so that the entry of the path has room. At the end of a node
// only its last entry moves: so members that come in order fill the nodes.
void member_tree::split(path& path, unsigned level) {
  auto& [left, index] = path[level];
  const bool is_leaf = level == 0;
  const unsigned end = is_leaf ? capacity : capacity - 1;
  const unsigned cut = index == end ? capacity - 1 : capacity / 2;
  node* const right = make_node(level);
  move_entries(*left, cut, *right, level);
  if (is_leaf) {
    auto& left_leaf = static_cast<leaf&>(*left);
    auto& right_leaf = static_cast<leaf&>(*right);
    right_leaf.previous = &left_leaf;
    right_leaf.next = left_leaf.next;
    if (right_leaf.next != nullptr) right_leaf.next->previous = &right_leaf;
    left_leaf.next = &right_leaf;
  }
  insert_child(path, level + 1, right);
  if (index > cut || (!is_leaf && index == cut)) {
    left = right;
    index -= cut;
    ++path[level + 1].index;
  }
}

// Inserts a child that was split off the one of the path.
void member_tree::insert_child(path& path, unsigned level, node* child) {
  if (level == height_) {
    auto* const root = static_cast<branch*>(make_node(level));
    root->count = 1;
    root->scores[0] = root_->scores[0];
    root->members[0] = root_->members[0];
    root->children[0] = root_;
    root->sizes[0] = size_;
    root_ = root;
    ++height_;
    path[level] = {root, 0};
  }
  if (path[level].place->count == capacity) split(path, level);
  auto& [place, index] = path[level];
  auto& parent = static_cast<branch&>(*place);
  const auto size = size_below(*child, level - 1);
  open_entry(parent, level, index + 1);
  parent.scores[index + 1] = child->scores[0];
  parent.members[index + 1] = child->members[0];
  parent.children[index + 1] = child;
  parent.sizes[index + 1] = size;
  parent.sizes[index] -= size;
}

// --- removal

void member_tree::move(scored_member* member, double score) {
  auto place = path_to(member->score_, member->member());
  if (fits(place, score, member->member())) {
    place[0].place->scores[place[0].index] = member->score_ = score;
    if (place[0].index == 0) update_first(place, 0);
    return;
  }
  remove(place);
  member->score_ = score;
  insert(member);
}

// Reports whether the member of the path would stay there with this score.
bool member_tree::fits(const path& path, double score, std::string_view member) {
  const cursor place(static_cast<const leaf*>(path[0].place), path[0].index);
  auto before = place;
  before.previous();
  if (before.is_at_member() && !before->is_before(score, member)) return false;
  auto behind = place;
  behind.next();
  return !behind.is_at_member() || !behind->is_before(score, member);
}

void member_tree::erase(scored_member* member) {
  auto place = path_to(member->score_, member->member());
  remove(place);
  scored_member::destroy(member);
}

void member_tree::remove(path& path) {
  auto& [node, index] = path[0];
  close_entry(*node, 0, index);
  --size_;
  for (unsigned level = 1; level < height_; ++level) {
    --static_cast<branch*>(path[level].place)->sizes[path[level].index];
  }
  if (index == 0 && node->count != 0) update_first(path, 0);
  shrink(path, 0);
}

// Merges nodes that have become small with a neighbour, from this level up.
void member_tree::shrink(path& path, unsigned level) {
  for (; level + 1 < height_; ++level) {
    const auto count = path[level].place->count;
    auto& [place, index] = path[level + 1];
    auto& parent = static_cast<branch&>(*place);
    if (count == 0) {
      remove_child(parent, level, index);
      if (index == 0 && parent.count != 0) update_first(path, level + 1);
      continue;
    }
    if (count >= capacity / 4) return;
    const auto is_small = [&](unsigned neighbour) {
      return parent.children[neighbour]->count + count <= capacity * 3 / 4;
    };
    if (index + 1 < parent.count && is_small(index + 1)) {
      merge(parent, level, index);
    } else if (index != 0 && is_small(index - 1)) {
      merge(parent, level, index - 1);
    } else {
      return;
    }
  }
  shrink_root();
}

void member_tree::shrink_root() {
  while (height_ > 1 && root_->count <= 1) {
    auto* const above = static_cast<branch*>(root_);
    root_ = above->count == 0 ? nullptr : above->children[0];
    destroy_node(above, height_ - 1);
    --height_;
    if (root_ == nullptr) height_ = 0;
  }
  if (height_ == 1 && root_->count == 0) {
    destroy_node(root_, 0);
    root_ = nullptr;
    height_ = 0;
  }
}

// Merges the child behind that at `index` into it; `level` is that of the children.
void member_tree::merge(branch& parent, unsigned level, unsigned index) {
  node* const right = parent.children[index + 1];
  move_entries(*right, 0, *parent.children[index], level);
  parent.sizes[index] += parent.sizes[index + 1];
  remove_child(parent, level, index + 1);
}

void member_tree::remove_child(branch& parent, unsigned level, unsigned index) {
  node* const gone = parent.children[index];
  if (level == 0) {
    const auto& around = static_cast<const leaf&>(*gone);
    if (around.previous != nullptr) around.previous->next = around.next;
    if (around.next != nullptr) around.next->previous = around.previous;
  }
  destroy_node(gone, level);
  close_entry(parent, level + 1, index);
}

}  // namespace strata::runtime::cache
