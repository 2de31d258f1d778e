// Lets one coroutine wait for the next item from a source that outlives the wait.
//
// A source befriends these classes and has `bool prepare()` (ensures that an item will come;
// returns whether one is available now), `take()` (returns it) and `waiter_` (the coroutine to
// resume). Destroying the coroutine while it waits detaches it from the source.
#pragma once

#include <coroutine>
#include <utility>

namespace strata::loop {

template <class Source>
class [[nodiscard]] source_awaiter {
 public:
  explicit source_awaiter(Source& source) : from_(&source) {}
  source_awaiter(const source_awaiter&) = delete;
  source_awaiter& operator=(const source_awaiter&) = delete;
  ~source_awaiter() {
    if (from_ != nullptr) from_->waiter_ = {};
  }

  [[nodiscard]] bool await_ready() { return from_->prepare(); }
  void await_suspend(std::coroutine_handle<> self) { from_->waiter_ = self; }
  auto await_resume() { return std::exchange(from_, nullptr)->take(); }

 private:
  Source* from_;  // null once the coroutine goes on
};

/// As `source_awaiter`, but leaves the item to be taken: a coroutine that waits for long then needs
/// no space for the item in its frame.
template <class Source>
class [[nodiscard]] source_readiness {
 public:
  explicit source_readiness(Source& source) : from_(&source) {}
  source_readiness(const source_readiness&) = delete;
  source_readiness& operator=(const source_readiness&) = delete;
  ~source_readiness() {
    if (from_ != nullptr) from_->waiter_ = {};
  }

  [[nodiscard]] bool await_ready() { return from_->prepare(); }
  void await_suspend(std::coroutine_handle<> self) { from_->waiter_ = self; }
  void await_resume() { from_ = nullptr; }

 private:
  Source* from_;  // null once the coroutine goes on
};

}  // namespace strata::loop
