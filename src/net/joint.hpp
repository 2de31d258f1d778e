// Joins two channels of bytes, each receiving what the other sends: bytes in order, the end of one
// direction without the other, and the break of a channel.
//
// For one loop's thread. Memory is bounded: while the limit of unsent bytes for one side is
// reached, no more is received from the other. The caller owns both channels, which outlive the
// joint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "loop/signal.hpp"
#include "loop/task_group.hpp"
#include "net/byte_channel.hpp"
#include "strata/base/result.hpp"

namespace strata::net {

class joint {
 public:
  /// Changes the data that passes, piece by piece.
  class changer {
   public:
    virtual ~changer() = default;
    /// Whether data from that side passes through `change` from now on; otherwise it passes
    /// unchanged.
    [[nodiscard]] virtual bool changes(bool from_first) const = 0;
    /// Returns the replacement of a piece, which may be empty. Its direction waits meanwhile.
    /// Errors: both channels are to be broken, though neither is at fault.
    virtual loop::task<result<std::string>> change(bool from_first, std::string piece) = 0;
  };
  /// Sees what has arrived, before it goes on.
  class observer {
   public:
    virtual ~observer() = default;
    virtual void on_bytes(bool from_first, byte_span bytes) = 0;
  };
  struct settings {
    std::size_t most_unsent = 1U << 18U;  ///< bytes that may be queued for a side that reads slowly
    bool is_one_way = false;              ///< data from the second is dropped
    observer* observing = nullptr;        ///< outlives the joint; may be null
    changer* changing = nullptr;          ///< outlives the joint; null: nothing is changed
  };
  /// Why the joint ended before both sides had ended.
  struct breach {
    bool is_of_first = false;  ///< the first channel broke; else the second
    error why;
  };

  joint(loop::loop& loop, byte_channel& first, byte_channel& second, settings settings);
  joint(const joint&) = delete;
  joint& operator=(const joint&) = delete;

  /// Waits until both sides have ended and all their data is sent, or one is broken: then the owner
  /// is to break both. Null on success. If `is_one_way`, the second's end is not waited for.
  [[nodiscard]] loop::task<std::unique_ptr<breach>> run();
  /// Ends `run` soon, as if a channel had broken.
  void give_up();

 private:
  // Most connections are idle most of the time: the state that is kept meanwhile is in small
  // coroutine frames, and the rest in functions that do not wait or that are called at the end.
  enum class turn : std::uint8_t { go_on, wait, end, broken };
  [[nodiscard]] loop::task<> direction(byte_channel& channel, byte_channel& destination);
  loop::task<> carry(byte_channel& channel, byte_channel& destination);
  loop::task<> carry_changed(byte_channel& channel, byte_channel& destination);
  template <class With>
  [[nodiscard]] turn take(byte_channel& channel, byte_channel& destination, With with);
  [[nodiscard]] turn pass(byte_channel& channel, byte_channel& destination);
  loop::task<> flush();
  void note_broken(const byte_channel& channel);
  loop::task<> pass_over(byte_channel& channel);
  void note(const byte_channel& channel, error why);

  byte_channel& first_;
  byte_channel& second_;
  settings settings_;
  loop::signal changed_;
  unsigned open_ = 2;  // open directions
  std::unique_ptr<breach> breach_;
  loop::task_group carrying_;
};

}  // namespace strata::net
