// Parses replies of Redis's protocol, RESP2 or RESP3, from a byte stream into values that own their
// memory. Source: the RESP3 specification, github.com/redis/redis-specifications.
//
// Sans-I/O and total: bytes in parts of any size go in, whole replies come out; nothing is parsed
// twice, and no bytes, however hostile, cause reads out of bounds, exceptions or endless recursion,
// or make it keep more than `value_limits` allow. A count alone takes no memory.
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
    verbatim,    ///< = without its format
    integer,     ///< :
    real,        ///< , as written
    big_number,  ///< ( as written
    boolean,     ///< # `integer` is 0 or 1
    array,       ///< *
    set,         ///< ~
    map,         ///< % key, value, key, value, …
    push,        ///< > sent without a request
  };

  kind what = kind::null;
  std::int64_t integer = 0;
  std::string text;
  std::vector<resp_value> elements;

  [[nodiscard]] bool is_aggregate() const { return what >= kind::array; }
  /// Reports whether it has this kind and text, compared as they are.
  [[nodiscard]] bool is(kind kind, std::string_view wanted_text) const {
    return what == kind && text == wanted_text;
  }
  bool operator==(const resp_value&) const = default;
};

struct value_limits {
  std::size_t max_depth = 32;            ///< aggregates within aggregates
  std::uint64_t max_bulk = 512U << 20U;  ///< bytes of one string, or of one line
  std::uint64_t max_values = 1U << 24U;  ///< values in one reply, nested ones included
  std::uint64_t max_reply = 1U << 30U;   ///< bytes of one reply
};

/// Attributes (|) are skipped. Streamed strings and aggregates ($?, *?), which no server sends, are
/// rejected.
class value_reader {
 public:
  explicit value_reader(const value_limits& limits = {}) : limits_(limits) {}

  /// Appends received bytes.
  void feed(byte_span arrived);
  /// Returns the next whole reply; nullopt while it is incomplete. Errors: malformed,
  /// limit_exceeded; all later calls return the same error.
  [[nodiscard]] result<std::optional<resp_value>> next();
  /// Bytes that are held and not part of a returned reply.
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
  std::size_t at_ = 0;         // bytes before this are parsed
  std::size_t searched_ = 0;   // no line end before this
  std::uint64_t dropped_ = 0;  // bytes parsed and removed from the buffer
  std::uint64_t begin_ = 0;    // offset, in all bytes, of the current reply
  std::uint64_t values_ = 0;   // in the current reply
  std::vector<open_value> open_;
  std::optional<error> broken_;
};

}  // namespace strata::proto
