// Receives that wait for one of a loop's few buffers, and the order in which they get one: a peer
// that says little waits neither for those that say much nor for those that have only come, and the
// more their bytes give to do, the fewer of them have their turn at a time.
//
// For one loop's thread.
#pragma once

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::loop {

/// Something that may wait in a queue; it leaves when it is destroyed.
struct buffer_seeker
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  explicit buffer_seeker(int of_fd) : descriptor(of_fd) {}

  int descriptor;
};

class buffer_queue {
 public:
  void enter(buffer_seeker& one);
  [[nodiscard]] bool is_empty() const { return little_.empty() && fresh_.empty() && bulk_.empty(); }
  /// Calls `give` for those whose turn it is, which have left. No more of them than there are
  /// buffers: each that finds something takes one at least, and those that find none left have
  /// been asked of the kernel in vain.
  template <class Give>
  void serve(std::uint32_t buffers, Give give) {
    const auto share = std::min((buffers + 1) / 2, 2 * most_a_turn_);
    serve_first(little_, fresh_.empty() && bulk_.empty() ? buffers : buffers - share, give);
    // One that is left over goes to each in turn.
    is_bulks_turn_ = !is_bulks_turn_;
    const auto half = std::min((share + (is_bulks_turn_ ? 1 : 0)) / 2, most_a_turn_);
    const auto for_bulk = fresh_.empty() ? std::min(share, most_a_turn_) : half;
    const auto for_fresh = bulk_.empty() ? share : share - half;
    serve_first(fresh_, std::min(for_fresh, most_a_turn_), give);
    serve_first(bulk_, for_bulk, give);
  }
  /// Calls `give` for all, which have left.
  template <class Give>
  void drain(Give give) {
    for (auto* const each : {&little_, &fresh_, &bulk_}) serve_first(*each, UINT32_MAX, give);
  }
  /// Whether one that begins now has to enter, though there are buffers.
  [[nodiscard]] bool must_enter(const buffer_seeker& one) const;
  /// Whether it may take all buffers at once, if there is enough to receive. While others wait for
  /// buffers, a stream gets one at a time until it is known to want little.
  [[nodiscard]] bool may_take_many(const buffer_seeker& one) const;

  /// What came last on a stream.
  void note_received(int descriptor, std::size_t bytes, std::size_t of_buffer);
  /// The descriptor is another's from now on.
  void forget(int descriptor);
  /// At the end of each turn, when all have entered. `took`: what was done with the bytes of the
  /// turn before.
  void note_turn(std::chrono::microseconds took = {});

 private:
  using list = boost::intrusive::list<buffer_seeker, boost::intrusive::constant_time_size<false>>;
  /// Whether what came last filled most of a buffer.
  enum class appetite : std::uint8_t { unknown, little, much };

  static constexpr std::uint32_t most_ever_a_turn = 32;

  template <class Give>
  static void serve_first(list& of, std::uint32_t most, Give give) {
    for (; most != 0 && !of.empty(); --most) {
      auto& first = of.front();
      of.pop_front();
      give(first);
    }
  }
  [[nodiscard]] appetite appetite_of(int descriptor) const;
  [[nodiscard]] list& list_of(const buffer_seeker& one);

  list little_;  // whose last bytes were few
  list fresh_;   // that nothing is known of
  list bulk_;
  std::uint32_t most_a_turn_ = most_ever_a_turn;  // of each of the last two
  bool is_bulks_turn_ = false;
  std::vector<appetite> appetites_;  // by descriptor
  unsigned scarce_ = 0;              // turns for which buffers are taken to be scarce
};

}  // namespace strata::loop
