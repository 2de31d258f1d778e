// The queue of receives that wait for one of a loop's few buffers, and the order in which they are
// served. Streams that received little last wait neither for bulk streams nor for new ones, and the
// longer a turn's bytes take to process, the fewer bulk and new streams are served per turn.
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

/// An object that may wait in a queue; its destructor removes it.
struct buffer_seeker
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  explicit buffer_seeker(int of_fd) : descriptor(of_fd) {}

  int descriptor;
};

class buffer_queue {
 public:
  void enter(buffer_seeker& one);
  [[nodiscard]] bool is_empty() const { return little_.empty() && fresh_.empty() && bulk_.empty(); }
  /// Removes the next seekers from the queue and calls `give` for each. Serves no more than there
  /// are buffers: each seeker that finds data takes at least one, and asking the kernel for a
  /// seeker that then finds no buffer is wasted work.
  template <class Give>
  void serve(std::uint32_t buffers, Give give) {
    const auto share = std::min((buffers + 1) / 2, 2 * most_a_turn_);
    serve_first(little_, fresh_.empty() && bulk_.empty() ? buffers : buffers - share, give);
    // An odd buffer goes to bulk and fresh in alternate turns.
    is_bulks_turn_ = !is_bulks_turn_;
    const auto half = std::min((share + (is_bulks_turn_ ? 1 : 0)) / 2, most_a_turn_);
    const auto for_bulk = fresh_.empty() ? std::min(share, most_a_turn_) : half;
    const auto for_fresh = bulk_.empty() ? share : share - half;
    serve_first(fresh_, std::min(for_fresh, most_a_turn_), give);
    serve_first(bulk_, for_bulk, give);
  }
  /// Removes all from the queue and calls `give` for each.
  template <class Give>
  void drain(Give give) {
    for (auto* const each : {&little_, &fresh_, &bulk_}) serve_first(*each, UINT32_MAX, give);
  }
  /// Reports whether a receive that begins now must enter the queue although there are buffers.
  [[nodiscard]] bool must_enter(const buffer_seeker& one) const;
  /// Reports whether the receive may take all buffers at once, if there is enough to receive. While
  /// others wait for buffers, a stream gets one at a time until it is known to need little.
  [[nodiscard]] bool may_take_many(const buffer_seeker& one) const;

  /// Records how much a stream received last.
  void note_received(int descriptor, std::size_t bytes, std::size_t of_buffer);
  /// Forgets the descriptor, whose number may be reused from now on.
  void forget(int descriptor);
  /// Called at the end of each turn, when all receives have entered. `took` is the time spent on
  /// the bytes of the previous turn.
  void note_turn(std::chrono::microseconds took = {});

 private:
  using list = boost::intrusive::list<buffer_seeker, boost::intrusive::constant_time_size<false>>;
  /// Whether the last receive filled most of a buffer.
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

  list little_;  // received little last
  list fresh_;   // received nothing yet
  list bulk_;
  std::uint32_t most_a_turn_ = most_ever_a_turn;  // the most served per turn from each of `fresh_`
                                                  // and `bulk_`
  bool is_bulks_turn_ = false;
  std::vector<appetite> appetites_;  // by descriptor
  unsigned scarce_ = 0;              // remaining turns in which buffers count as scarce
};

}  // namespace strata::loop
