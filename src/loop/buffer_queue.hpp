// Receives that wait for one of a loop's few buffers, and the order in which they get one: a peer
// that says little does not wait for all that say much.
//
// For one loop's thread.
#pragma once

#include <algorithm>
#include <boost/intrusive/list.hpp>
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
  [[nodiscard]] bool is_empty() const { return others_.empty() && bulk_.empty(); }
  /// Calls `give` for those whose turn it is, which have left. No more of them than there are
  /// buffers: each that finds something takes one at least, and those that find none left have
  /// been asked of the kernel in vain. Little bulk a turn.
  template <class Give>
  void serve(std::uint32_t buffers, Give give) {
    const auto for_bulk = std::min((buffers + 1) / 2, most_bulk_a_turn);
    serve_first(others_, bulk_.empty() ? buffers : buffers - for_bulk, give);
    serve_first(bulk_, for_bulk, give);
  }
  /// Calls `give` for all, which have left.
  template <class Give>
  void drain(Give give) {
    serve_first(others_, UINT32_MAX, give);
    serve_first(bulk_, UINT32_MAX, give);
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
  /// At the end of each turn, when all have entered.
  void note_turn();

 private:
  using list = boost::intrusive::list<buffer_seeker, boost::intrusive::constant_time_size<false>>;
  /// Whether what came last filled most of a buffer.
  enum class appetite : std::uint8_t { unknown, little, much };

  static constexpr std::uint32_t most_bulk_a_turn = 32;

  template <class Give>
  static void serve_first(list& of, std::uint32_t most, Give give) {
    for (; most != 0 && !of.empty(); --most) {
      auto& first = of.front();
      of.pop_front();
      give(first);
    }
  }
  [[nodiscard]] appetite appetite_of(int descriptor) const;

  list others_;
  list bulk_;
  std::vector<appetite> appetites_;  // by descriptor
  unsigned scarce_ = 0;              // turns for which buffers are taken to be scarce
};

}  // namespace strata::loop
