// Two channels of bytes, each of which hears what the other says: bytes in order, the end of one
// direction without the other, and that a channel was broken.
//
// For one loop's thread. Memory is bounded: of what one side says no more is received while its
// limit waits for the other. The channels outlive the joint, and belong to somebody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "loop/signal.hpp"
#include "loop/task_group.hpp"
#include "net/byte_channel.hpp"
#include "strata/base/result.hpp"

namespace strata::net {

class joint {
 public:
  /// Changes what passes, piece by piece.
  class changer {
   public:
    virtual ~changer() = default;
    /// It is asked about what that side says from now on; else that passes as it is.
    [[nodiscard]] virtual bool changes(bool from_first) const = 0;
    /// What goes on in the place of a piece, which may be nothing. Its direction waits for that.
    /// Errors: both channels are to be broken, for which neither is to blame.
    virtual loop::task<result<std::string>> change(bool from_first, std::string piece) = 0;
  };
  struct settings {
    std::size_t most_unsent = 1U << 18U;  ///< bytes that may wait for a side that reads slowly
    bool is_one_way = false;              ///< what the second says is dropped
    /// Told of what came, before it goes on; may be empty.
    std::function<void(bool from_first, byte_span bytes)> on_bytes = {};
    changer* changing = nullptr;  ///< outlives the joint; null: nothing is changed
  };
  /// Why it ended before both had said all.
  struct breach {
    bool is_of_first = false;  ///< the first channel broke; else the second
    error why;
  };

  joint(loop::loop& loop, byte_channel& first, byte_channel& second, settings settings);
  joint(const joint&) = delete;
  joint& operator=(const joint&) = delete;

  /// Awaits that both have said all and have it on its way, or that one is broken: then the owner
  /// is to break both. Null: all went well. With one way alone, the second's end is not waited for.
  [[nodiscard]] loop::task<std::unique_ptr<breach>> run();
  /// Ends `run` soon, as if one of them were broken.
  void give_up();

 private:
  // Most connections are idle most of the time: what is kept meanwhile is in small frames, and the
  // rest in functions that await nothing, or that are called at the end.
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
  unsigned open_ = 2;  // directions
  std::unique_ptr<breach> breach_;
  loop::task_group carrying_;
};

}  // namespace strata::net
