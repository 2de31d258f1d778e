// Replies of Redis's protocol, RESP2 or RESP3, out of a stream's bytes, as values that own their
// memory. Source: the RESP3 specification, github.com/redis/redis-specifications.
//
// Sans-I/O and total: bytes in parts of any size go in, whole replies come out; nothing is parsed
// twice, and no bytes, however hostile, read out of bounds, throw, recurse without end, or make it
// keep more than `value_limits` allow. A count alone takes no memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

struct resp_value {
  enum class kind : std::uint8_t {
    null,
    status,      ///< a simple string: +
    error,       ///< - or !
    bulk,        ///< $
    verbatim,    ///< = less its format
    integer,     ///< :
    real,        ///< , as it was written
    big_number,  ///< ( as it was written
    boolean,     ///< # `integer` is 0 or 1
    array,       ///< *
    set,         ///< ~
    map,         ///< % key, value, key, value, …
    push,        ///< > said without being asked
  };

  kind what = kind::null;
  std::int64_t integer = 0;
  std::string text;
  std::vector<resp_value> elements;

  [[nodiscard]] bool is_aggregate() const { return what >= kind::array; }
  /// Has text of this kind; both are compared as they are.
  [[nodiscard]] bool is(kind kind, std::string_view wanted_text) const {
    return what == kind && text == wanted_text;
  }
  bool operator==(const resp_value&) const = default;
};

struct value_limits {
  std::size_t max_depth = 32;            ///< aggregates within aggregates
  std::uint64_t max_bulk = 512U << 20U;  ///< bytes of one string, or of one line
  std::uint64_t max_values = 1U << 24U;  ///< values of one reply, those within it included
  std::uint64_t max_reply = 1U << 30U;   ///< bytes of one reply
};

/// Attributes (|) are read over. Streamed strings and aggregates ($?, *?), which no server sends,
/// are refused.
class value_reader {
 public:
  explicit value_reader(const value_limits& limits = {}) : limits_(limits) {}

  /// Appends what has arrived.
  void feed(byte_span arrived);
  /// The next whole reply; nothing while bytes of it are missing. Errors: malformed,
  /// limit_exceeded; from then on it says the same.
  [[nodiscard]] result<std::optional<resp_value>> next();
  /// Bytes that are held and not part of a reply that was taken.
  [[nodiscard]] std::size_t held() const { return buffer_.size() - at_; }

 private:
  struct open_value {
    resp_value value;
    std::uint64_t missing;  // elements
    bool is_attribute;
  };
  enum class step : std::uint8_t { incomplete, opened, complete };

  result<step> read_one(resp_value& value);
  result<step> read_bulk(std::string_view length, std::size_t line_end, resp_value& value);
  result<step> open(char mark, std::string_view text, resp_value& value);
  std::optional<resp_value> close(resp_value&& complete);
  void forget_used();
  std::unexpected<error> refuse(errc code, std::string reason);

  value_limits limits_;
  std::string buffer_;
  std::size_t at_ = 0;         // what stands before has been read
  std::size_t searched_ = 0;   // up to here there is no line end
  std::uint64_t dropped_ = 0;  // bytes read and gone from the buffer
  std::uint64_t begin_ = 0;    // where, of all bytes, the present reply begins
  std::uint64_t values_ = 0;   // of the present reply
  std::vector<open_value> open_;
  std::optional<error> broken_;
};

}  // namespace strata::proto
