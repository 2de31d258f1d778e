// Redis's snapshot format, version 10 (Redis 7.0): single values, as DUMP and RESTORE exchange
// them, and the pieces of which a file is made. Source: the documents of the format, and files of
// redis-server 7.0.
//
// Reading is total: every length is checked against what is there, and what says it is larger than
// that costs no memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cache/engine/parameters.hpp"
#include "runtime/cache/values/entry.hpp"

namespace strata::runtime::cache {

class hash_value;
class list_value;
class set_value;
class sorted_set;

}  // namespace strata::runtime::cache

namespace strata::runtime::cache::rdb {

inline constexpr int version = 10;

/// CRC-64/REDIS, of `bytes` behind others whose sum is `before`.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes, std::uint64_t before = 0);

// What a file consists of, between the values.
enum class mark : std::uint8_t {
  function = 0xF5,
  module_data = 0xF7,
  idle = 0xF8,
  frequency = 0xF9,
  field = 0xFA,
  resize = 0xFB,
  expiry_ms = 0xFC,
  expiry_s = 0xFD,
  database = 0xFE,
  end = 0xFF,
};

/// Writes into a text that others take from it now and then.
class writer {
 public:
  void byte(unsigned value) { text_ += static_cast<char>(value); }
  void put(mark mark) { byte(static_cast<unsigned>(mark)); }
  void fixed(std::uint64_t value, unsigned bytes);
  void length(std::uint64_t value);
  void string(std::string_view text);
  void integer_string(std::int64_t value);
  /// The kind of value, and the value, with the key between them in a file.
  void kind(const entry& entry);
  void value(const entry& entry);

  [[nodiscard]] std::string& text() { return text_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void list(const list_value& value);
  void set(const set_value& value);
  void hash(const hash_value& value);
  void scores(const sorted_set& set);

  std::string text_;
};

/// Reads from a text; after a failure everything else fails too.
class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::size_t left() const { return text_.size() - at_; }

  unsigned byte();
  std::uint64_t fixed(unsigned bytes);
  std::uint64_t length();
  std::string string();
  std::string_view bytes(std::uint64_t count);
  /// A value of that kind, under `key`. Null: it is none, or of a kind that is not known.
  [[nodiscard]] entry* value(unsigned kind, std::string_view key, std::int64_t expires_at_ms,
                             const parameters& settings);

 private:
  struct encoded_length {
    std::uint64_t value;
    bool is_special;  // not a length, but the way a string is kept
  };
  encoded_length any_length();
  std::string special_string(std::uint64_t how);
  std::string compressed_string();
  std::unique_ptr<collection> read_list();
  std::unique_ptr<collection> read_set(const parameters& settings);
  std::unique_ptr<collection> read_int_set();
  std::unique_ptr<collection> read_hash(const parameters& settings);
  std::unique_ptr<collection> read_packed_hash(const parameters& settings);
  std::unique_ptr<collection> read_sorted_set(const parameters& settings);
  std::unique_ptr<collection> read_packed_sorted_set(const parameters& settings);
  std::unique_ptr<collection> fail();

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

/// What DUMP replies: the value, the version, and a checksum.
[[nodiscard]] std::string dump(const entry& entry);
/// Why a payload of RESTORE was not taken.
enum class refusal : std::uint8_t { none, wrong_checksum, bad_data };
/// The entry of such a payload, or null, with the reason.
[[nodiscard]] entry* restore(std::string_view payload, std::string_view key,
                             std::int64_t expires_at_ms, const parameters& settings, refusal& why);

}  // namespace strata::runtime::cache::rdb
