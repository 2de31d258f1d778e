// The benchmark's message: one line that says which it is and proves that it arrived whole.
//
//   kind (1) | sequence (8 digits, base 64) | stamp in ns (10 digits, base 64) | filler | '\n'
//
// The filler depends on the sequence, so bytes of two messages that were mixed do not pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::bench {

enum class message_kind : char {
  probe = 'p',  // sent until every receiver has shown that it is served; never counted
  data = 'd',
};

struct message {
  message_kind kind = message_kind::data;
  std::uint64_t sequence = 0;
  std::uint64_t stamp_ns = 0;
};

class message_format {
 public:
  static constexpr std::size_t min_size = 24;
  static constexpr std::size_t max_size = 65536;

  explicit message_format(std::size_t size);

  std::size_t size() const { return size_; }

  // Appends exactly size() bytes.
  void append(std::string& out, const message& value) const;

  // nullopt when a single byte is not what append() wrote.
  std::optional<message> read(std::string_view bytes) const;

 private:
  std::string_view filler_of(std::uint64_t sequence) const;

  std::size_t size_;
  std::string alphabet_;  // a..z repeated; the filler is a window into it
};

}  // namespace strata::bench
