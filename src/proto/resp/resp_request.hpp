// Parses requests of Redis's protocol from a byte stream: arrays of bulk strings, or inline
// commands (words on a line, with Redis's quotes). Source: the RESP specification,
// redis.io/docs/reference.
//
// Requests are parsed in place; only an incomplete request is copied aside, and it is not parsed
// from its beginning again when more arrives. Total: no bytes, however hostile, cause reads out of
// bounds or exceptions, or make it keep more than `request_limits` allow.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/bytes.hpp"

namespace strata::proto {

struct request_limits {
  std::uint64_t max_bulk = 512ULL << 20U;   ///< bytes of one argument
  std::uint64_t max_arguments = INT32_MAX;  ///< arguments of one request
  std::uint64_t max_buffer = 1ULL << 30U;   ///< bytes kept of an unfinished request

  /// Applies Redis's limits for a client that has not authenticated yet.
  bool is_stranger = false;
};

class request_reader {
 public:
  enum class outcome : std::uint8_t {
    request,     ///< one request's arguments were appended; none for an empty one
    incomplete,  ///< more bytes are needed
    broken,      ///< the peer does not speak the protocol; see `error()`
  };

  /// Takes the next bytes; all earlier bytes must have been parsed or kept. They must not change
  /// until `keep()`.
  void feed(byte_span arrived);
  /// Parses the next request. Its arguments are views of the fed bytes or of this object, valid
  /// until `keep()`.
  [[nodiscard]] outcome next(std::vector<std::string_view>& arguments);
  /// Copies the incomplete request aside: the fed bytes may be freed.
  void keep();
  /// The beginning of the next request; `go_back` returns to it, so that everything since is parsed
  /// again. Call both before `keep()`.
  [[nodiscard]] std::size_t position() const { return position_; }
  void go_back(std::size_t position);
  /// The size in bytes of the request that `next` returned last.
  [[nodiscard]] std::size_t last_size() const { return position_ - begin_; }

  void set_limits(const request_limits& limits) { limits_ = limits; }
  /// After `broken`: the error in Redis's words ("Protocol error: …").
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Bytes held for an incomplete request.
  [[nodiscard]] std::size_t held() const { return kept_.size() + unfinished_.size() * 16; }
  /// Bytes of memory reserved beyond those, for the rest of the request.
  [[nodiscard]] std::size_t room() const { return kept_.capacity() - kept_.size(); }
  /// Reports whether the last request was inline words and not an array.
  [[nodiscard]] bool was_inline() const { return was_inline_; }

 private:
  struct piece {
    std::size_t offset;  // from the request's first byte
    std::size_t size;
  };

  void keep_aside(std::string_view rest);
  void shrink();
  [[nodiscard]] bool parse_usual(std::vector<std::string_view>& arguments);
  [[nodiscard]] outcome parse_array(std::vector<std::string_view>& arguments);
  [[nodiscard]] outcome take_up(std::vector<std::string_view>& arguments);
  template <class Found>
  [[nodiscard]] outcome parse_bulks(Found&& found);
  [[nodiscard]] outcome parse_count();
  [[nodiscard]] outcome parse_inline(std::vector<std::string_view>& arguments);
  [[nodiscard]] outcome fail(std::string why);

  request_limits limits_;
  std::string_view bytes_;     // fed, or kept_
  std::size_t begin_ = 0;      // where in bytes_ the request begins
  std::size_t position_ = 0;   // how far it is parsed
  std::uint64_t missing_ = 0;  // arguments still to come; 0 between requests
  std::size_t wanted_ = 0;     // bytes from begin_ on, below which parsing is useless
  std::vector<piece> unfinished_;
  std::string kept_;
  std::vector<std::vector<std::string>> inline_words_;  // the words to which views of inline
                                                        // arguments refer
  bool was_inline_ = false;
  std::string error_;
};

/// Appends a request in the clients' form: an array of bulk strings.
void append_command(std::string& text, std::span<const std::string_view> words);

/// Splits an inline command into words, unquoted as in Redis ("\x41", 'it\'s'). Returns false if
/// the quotes do not match.
[[nodiscard]] bool split_words(std::string_view line, std::vector<std::string>& words);

}  // namespace strata::proto
