// Counts the whole replies in a stream of RESP2 or RESP3, however it is cut into pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata::bench {

class reply_counter {
 public:
  /// Returns how many replies end in these bytes, which follow those of the last call. Fails the
  /// program if a reply is an error: what refuses its work would look fast.
  std::size_t count(std::string_view bytes);

 private:
  void read_line(std::string_view line);
  void end_value();

  std::string line_;          // the beginning of a line whose end has not arrived
  std::uint64_t text_ = 0;    // bytes of a text that have not arrived, with its line end
  std::uint64_t values_ = 0;  // values of the present reply that have not ended
  std::size_t whole_ = 0;
};

}  // namespace strata::bench
