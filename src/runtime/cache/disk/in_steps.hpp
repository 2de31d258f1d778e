// Long work on a cache's data in steps, between which others on the loop run.
#pragma once

#include <chrono>
#include <cstddef>

#include "loop/loop.hpp"
#include "loop/task.hpp"

namespace strata::runtime::cache {

/// Calls `reader.step(most)` repeatedly until it is done, each time between the hooks `begin_work`
/// and `end_work`. Returns the outcome.
template <class Reader, class Hooks>
loop::task<typename Reader::outcome> read_in_steps(loop::loop& loop, Reader& reader,
                                                   std::size_t most, const Hooks& hooks) {
  for (;;) {
    hooks.begin_work();
    const auto how = reader.step(most);
    hooks.end_work();
    if (how != Reader::outcome::more) co_return how;
    co_await loop.sleep(std::chrono::milliseconds(0));
  }
}

}  // namespace strata::runtime::cache
