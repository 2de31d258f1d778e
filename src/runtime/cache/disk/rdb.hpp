// Redis's snapshot format, version 10 (Redis 7.0): single values, as in DUMP and RESTORE, and the
// parts of a file. Source: the documents of the format, and files of redis-server 7.0. Hashes with
// fields that expire need version 12 (Redis 7.4), and are written so only if there are any.
//
// Reading is total: every length is checked against the available bytes, and a length that exceeds
// them allocates no memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/parameters.hpp"
#include "runtime/cache/engine/scripts/function_texts.hpp"
#include "runtime/cache/values/entry.hpp"

namespace strata::runtime::cache {

class hash_value;
class list_value;
class set_value;
class sorted_set;
class stream_group;
class stream_value;
struct stream_id;

}  // namespace strata::runtime::cache

namespace strata::runtime::cache::rdb {

inline constexpr int version = 10;
/// The version of a snapshot with times of fields; the newest that can be read.
inline constexpr int field_times_version = 12;

/// Returns CRC-64/REDIS of `bytes` behind others whose checksum is `before`.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes, std::uint64_t before = 0);

// The kinds of streams, by the version of Redis that writes them: without and with the counters of
// entries read, and with the times of consumers' activity.
inline constexpr unsigned kind_stream_5 = 15;
inline constexpr unsigned kind_stream_7 = 19;
inline constexpr unsigned kind_stream_7_2 = 21;

// The marks in a file between the values.
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

/// Writes into a text that the caller takes periodically.
class writer {
 public:
  /// Writes hashes without the times at which fields expire, as versions before 12 need them.
  void leave_out_field_times() { has_field_times_ = false; }
  void byte(unsigned value) { text_ += static_cast<char>(value); }
  void put(mark mark) { byte(static_cast<unsigned>(mark)); }
  void fixed(std::uint64_t value, unsigned bytes);
  void length(std::uint64_t value);
  void string(std::string_view text);
  void integer_string(std::int64_t value);
  /// Write the kind of value, and the value; in a file, the key is between them.
  void kind(const entry& entry);
  void value(const entry& entry);

  [[nodiscard]] std::string& text() { return text_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void list(const list_value& value);
  void set(const set_value& value);
  void hash(const hash_value& value);
  void timed_hash(const hash_value& value);
  [[nodiscard]] bool has_field_times(const hash_value& value) const;
  void scores(const sorted_set& set);
  void stream(const stream_value& stream);
  void raw_id(const stream_id& id);
  void id(const stream_id& id);
  void group(std::string_view name, const stream_group& group);

  std::string text_;
  bool has_field_times_ = true;
};

/// Reads from a text; after a failure, all further reads fail too.
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
  /// Reads a value of that kind, under `key`. Returns null if it is invalid, or of an unknown kind.
  [[nodiscard]] entry* value(unsigned kind, std::string_view key, std::int64_t expires_at_ms,
                             const parameters& settings);

 private:
  struct encoded_length {
    std::uint64_t value;
    bool is_special;  // not a length, but the form of a string
  };
  encoded_length any_length();
  std::string special_string(std::uint64_t how);
  std::string compressed_string();
  std::unique_ptr<collection> read_list();
  std::unique_ptr<collection> read_set(const parameters& settings);
  std::unique_ptr<collection> read_int_set();
  std::unique_ptr<collection> read_hash(const parameters& settings);
  std::unique_ptr<collection> read_packed_hash(const parameters& settings);
  std::unique_ptr<collection> read_timed_hash(const parameters& settings);
  std::unique_ptr<collection> read_packed_timed_hash(const parameters& settings);
  std::unique_ptr<collection> read_packed_set(const parameters& settings);
  std::unique_ptr<collection> read_sorted_set(const parameters& settings);
  std::unique_ptr<collection> read_packed_sorted_set(const parameters& settings);
  stream_id read_raw_id(std::string_view bytes);
  stream_id read_id();
  bool read_blocks(stream_value& stream);
  bool read_group(stream_value& stream, unsigned kind);
  bool read_pending(stream_group& group);
  bool read_consumer(stream_group& group, unsigned kind);
  std::unique_ptr<collection> read_stream(unsigned kind);
  std::unique_ptr<collection> fail();

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

/// Returns the reply of DUMP: the value, the version, and a checksum.
[[nodiscard]] std::string dump(const entry& entry);
/// Why a payload of RESTORE was rejected.
enum class refusal : std::uint8_t { none, wrong_checksum, bad_data };
/// Returns the entry in a payload of RESTORE, or null, with the reason in `why`.
[[nodiscard]] entry* restore(std::string_view payload, std::string_view key,
                             std::int64_t expires_at_ms, const parameters& settings, refusal& why);

/// Returns the reply of FUNCTION DUMP.
[[nodiscard]] std::string dump_functions(const function_texts::map& texts);
/// Returns the libraries in a payload of FUNCTION RESTORE; none, with the reason in `why`, if it is
/// rejected.
[[nodiscard]] std::vector<std::string> restore_functions(std::string_view payload, refusal& why);

}  // namespace strata::runtime::cache::rdb
