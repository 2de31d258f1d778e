#include "runtime/cache/values/skip_list.hpp"

#include <bit>
#include <new>
#include <random>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {

namespace {

// One node in four reaches the next level. Each process has its own seed, so that an attacker
// cannot know which members make a list slow.
unsigned random_height(unsigned most) {
  static thread_local std::uint64_t state = std::random_device{}() | std::uint64_t{1} << 32U;
  state ^= state << 13U;
  state ^= state >> 7U;
  state ^= state << 17U;
  const auto height = 1 + static_cast<unsigned>(std::countr_zero(state)) / 2;
  return height < most ? height : most;
}

}  // namespace

scored_member* scored_member::make(std::string_view member, double score, unsigned height) {
  const auto size = sizeof(scored_member) + height * sizeof(link) + member.size();
  auto* const made = new (allocate(size)) scored_member;
  made->score_ = score;
  made->size_ = static_cast<std::uint32_t>(member.size());
  made->height_ = height;
  for (unsigned i = 0; i < height; ++i) new (&made->links()[i]) link{};
  member.copy(reinterpret_cast<char*>(made->links() + height), member.size());
  return made;
}

scored_member* scored_member::make(std::string_view member, double score) {
  return make(member, score, random_height(most_height));
}

void scored_member::destroy(scored_member* member) { release(member, member->block_size()); }

std::size_t scored_member::memory() const { return allocation_size(block_size()); }

skip_list::skip_list() : head_(scored_member::make({}, 0, scored_member::most_height)) {}

skip_list::~skip_list() {
  scored_member* each = head_;
  while (each != nullptr) {
    scored_member* const next = each->links()[0].next;
    scored_member::destroy(each);
    each = next;
  }
}

scored_member* skip_list::at(std::size_t rank) const {
  return path_to(rank)[0].node->links()[0].next;
}

std::size_t skip_list::rank_of(const scored_member& node) const {
  return seek([&](double score, const scored_member& each) {
           return score < node.score_ || (score == node.score_ && each.member() < node.member());
         })
      .rank;
}

skip_list::path skip_list::path_to(double score, std::string_view member) const {
  path found;
  std::size_t rank = 0;
  scored_member* at = head_;
  const scored_member* stop = nullptr;
  for (unsigned level = height_; level-- != 0;) {
    const auto* link = &at->links()[level];
    while (link->next != stop && (link->next_score < score ||
                                  (link->next_score == score && link->next->member() < member))) {
      rank += link->span;
      at = link->next;
      link = &at->links()[level];
    }
    stop = link->next;
    found[level] = {at, rank};
  }
  return found;
}

skip_list::path skip_list::path_to(std::size_t rank) const {
  path found;
  std::size_t passed = 0;
  scored_member* at = head_;
  for (unsigned level = height_; level-- != 0;) {
    const auto* link = &at->links()[level];
    while (link->next != nullptr && passed + link->span <= rank) {
      passed += link->span;
      at = link->next;
      link = &at->links()[level];
    }
    found[level] = {at, passed};
  }
  return found;
}

void skip_list::insert(scored_member* fresh) {
  ++size_;
  link(fresh);
}

void skip_list::link(scored_member* node) {
  path before = path_to(node->score_, node->member());
  // New levels begin as a single link from the head to the end.
  for (; height_ < node->height_; ++height_) before[height_] = {head_, 0};
  const std::size_t rank = before[0].rank + 1;
  for (unsigned level = 0; level < height_; ++level) {
    auto& from = before[level].node->links()[level];
    if (level >= node->height_) {
      ++from.span;
      continue;
    }
    const std::size_t way = rank - before[level].rank;
    node->links()[level] = {from.next, from.next_score, from.span + 1 - way};
    from = {node, node->score_, way};
  }
  node->previous_ = before[0].node == head_ ? nullptr : before[0].node;
  scored_member* const next = node->links()[0].next;
  (next == nullptr ? last_ : next->previous_) = node;
}

void skip_list::unlink(const path& before, scored_member* node) {
  for (unsigned level = 0; level < height_; ++level) {
    auto& from = before[level].node->links()[level];
    if (level >= node->height_) {
      --from.span;
      continue;
    }
    const auto& to = node->links()[level];
    from = {to.next, to.next_score, from.span + to.span - 1};
  }
  scored_member* const next = node->links()[0].next;
  (next == nullptr ? last_ : next->previous_) = node->previous_;
  while (height_ > 1 && head_->links()[height_ - 1].next == nullptr) --height_;
  --size_;
}

bool skip_list::fits_between(const scored_member& node, double score) const {
  const auto* const before = node.previous_;
  const auto* const behind = node.next();
  if (before != nullptr && !before->is_before(score, node.member())) return false;
  return behind == nullptr || !behind->is_before(score, node.member());
}

void skip_list::move(scored_member* node, double score) {
  const bool stays = fits_between(*node, score);
  if (stays && node->height_ == 1) {
    auto* const before = node->previous_ == nullptr ? head_ : node->previous_;
    before->links()[0].next_score = node->score_ = score;
    return;
  }
  const path before = path_to(node->score_, node->member());
  if (stays) {
    node->score_ = score;
    for (unsigned i = 0; i < node->height_; ++i) before[i].node->links()[i].next_score = score;
    return;
  }
  unlink(before, node);
  node->score_ = score;
  insert(node);
}

void skip_list::erase(scored_member* node) {
  unlink(path_to(node->score_, node->member()), node);
  scored_member::destroy(node);
}

}  // namespace strata::runtime::cache
