// Replies of Redis's protocol, RESP2 or RESP3, written directly into memory that the derived class
// provides. Types that RESP2 lacks are written as Redis writes them in RESP2: a map as an array of
// twice its size, a double as a bulk string, null as "$-1". Source: the RESP3 specification;
// `redis-server` 7.0 for the RESP2 forms.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/real_text.hpp"

namespace strata::proto {

class reply_writer {
 public:
  reply_writer() = default;
  reply_writer(const reply_writer&) = delete;
  reply_writer& operator=(const reply_writer&) = delete;
  virtual ~reply_writer() = default;

  void speak(int protocol) { is_resp3_ = protocol == 3; }
  [[nodiscard]] bool is_resp3() const { return is_resp3_; }

  void ok() { raw("+OK\r\n"); }
  /// Writes a simple string, which must not contain CR or LF.
  void status(std::string_view text) { line('+', text); }
  /// Writes an error; `text` begins with its code ("ERR …"). CR and LF in it become spaces.
  void error(std::string_view text);
  void integer(std::int64_t value) {
    // Most integers have one digit.
    if (value >= 0 && value <= 9) {
      reserve(4);
      *at_++ = ':';
      *at_++ = static_cast<char>('0' + value);
      *at_++ = '\r';
      *at_++ = '\n';
    } else {
      number(':', value);
    }
  }
  void bulk(std::string_view bytes) {
    reserve(bytes.size() + max_head);
    head('$', bytes.size());
    copy(bytes);
    end_line();
  }
  /// Writes an integer as a bulk string.
  void bulk_integer(std::int64_t value);
  /// Null in place of a bulk string, and in place of an array.
  void null() { raw(is_resp3_ ? "_\r\n" : "$-1\r\n"); }
  void null_array() { raw(is_resp3_ ? "_\r\n" : "*-1\r\n"); }
  void real(double value);
  void boolean(bool value) {
    raw(is_resp3_ ? (value ? "#t\r\n" : "#f\r\n") : value ? ":1\r\n" : ":0\r\n");
  }
  /// Writes an integer of any size by its digits, in one line.
  void big_number(std::string_view digits) { is_resp3_ ? line('(', digits) : bulk(digits); }
  /// Writes text with its format ("txt", "mkd"), which RESP2 omits.
  void verbatim(std::string_view kind, std::string_view text);

  // Headers of aggregates: `count` elements follow; for a map, pairs.
  void array(std::uint64_t count) { sized('*', count); }
  void map(std::uint64_t count) { sized(is_resp3_ ? '%' : '*', is_resp3_ ? count : count * 2); }
  void set(std::uint64_t count) { sized(is_resp3_ ? '~' : '*', count); }
  void push(std::uint64_t count) { sized(is_resp3_ ? '>' : '*', count); }

  /// Writes bytes that already are RESP.
  void raw(std::string_view bytes) {
    reserve(bytes.size());
    copy(bytes);
  }

 protected:
  /// Makes `end_ - at_` at least `size`. Bytes written before are kept, in order.
  virtual void grow(std::size_t size) = 0;

  char* at_ = nullptr;
  char* end_ = nullptr;

 private:
  static constexpr std::size_t max_head = 32;

  void reserve(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) grow(size);
  }
  // Copies short texts in two overlapping words, which is faster than a call of memcpy.
  void copy(std::string_view bytes) {
    const auto size = bytes.size();
    if (size >= 8 && size <= 16) {
      copy_ends<8>(bytes);
    } else if (size >= 4 && size < 8) {
      copy_ends<4>(bytes);
    } else if (size < 4) {
      for (std::size_t i = 0; i < size; ++i) at_[i] = bytes[i];
    } else {
      std::memcpy(at_, bytes.data(), size);
    }
    at_ += size;
  }
  template <std::size_t Width>
  void copy_ends(std::string_view bytes) {
    std::memcpy(at_, bytes.data(), Width);
    std::memcpy(at_ + bytes.size() - Width, bytes.data() + bytes.size() - Width, Width);
  }
  void end_line() {
    *at_++ = '\r';
    *at_++ = '\n';
  }
  void head(char mark, std::uint64_t size) {
    *at_++ = mark;
    if (size < 10) {
      *at_++ = static_cast<char>('0' + size);
    } else if (size < 100) {
      *at_++ = static_cast<char>('0' + size / 10);
      *at_++ = static_cast<char>('0' + size % 10);
    } else {
      digits(static_cast<std::int64_t>(size));
    }
    end_line();
  }
  void sized(char mark, std::uint64_t count) {
    reserve(max_head);
    head(mark, count);
  }
  void line(char mark, std::string_view text);
  void number(char mark, std::int64_t value);
  void digits(std::int64_t value);

  bool is_resp3_ = false;
};

}  // namespace strata::proto
