// A snapshot file: values (rdb.hpp) under their keys, database by database, with a checksum at the
// end. Also the beginning of an append-only log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/cache/disk/rdb.hpp"

namespace strata::runtime::cache {

class keyspace;

}  // namespace strata::runtime::cache

namespace strata::runtime::cache::rdb {

/// Writes a file piece by piece; the caller takes the available bytes periodically.
class file_writer {
 public:
  /// `is_log_base`: commands will follow after the end. `has_field_times`: writes the times at
  /// which fields of hashes expire, which Redis reads since 7.4.
  void begin(std::int64_t now_ms, std::int64_t used_memory, bool is_log_base,
             bool has_field_times = false);
  /// Writes a library of functions: before the databases.
  void function(std::string_view text);
  /// Begins a database, which holds `keys` keys.
  void database(unsigned index, std::size_t keys, std::size_t expiring);
  void put(const entry& entry, eviction policy, std::int64_t now_ms);
  void end();

  /// The number of bytes that wait to be taken.
  [[nodiscard]] std::size_t size() const { return writer_.text().size(); }
  [[nodiscard]] std::string take();

 private:
  void field(std::string_view name, std::string_view value);

  writer writer_;
  std::uint64_t sum_ = 0;
};

/// Loads a file into a keyspace, which should be empty, some keys at a time.
class file_reader {
 public:
  enum class outcome : std::uint8_t { more, done, failed };

  /// `text` is the file, or begins with it: `position()` is then where the file ended.
  file_reader(std::string_view text, keyspace& keyspace, const parameters& settings)
      : reader_(text), text_(text), into_(keyspace), settings_(settings) {}

  /// Reports whether the text begins like an RDB file.
  [[nodiscard]] static bool is_one(std::string_view text) { return text.starts_with("REDIS"); }
  [[nodiscard]] outcome step(std::size_t most_keys);
  [[nodiscard]] std::size_t position() const { return reader_.position(); }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }
  /// After `failed`: the reason, as the second half of a sentence.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  bool read_head();
  /// Reads one item of the file; sets `was_key` if it was a key.
  outcome read_item(bool& was_key);
  bool read_key(unsigned kind);
  outcome read_function();
  outcome read_end();
  outcome fail(std::string why);

  reader reader_;
  std::string_view text_;
  keyspace& into_;
  const parameters& settings_;
  bool has_head_ = false;
  int version_ = 0;
  unsigned database_ = 0;
  std::int64_t expires_at_ms_ = entry::never;
  std::optional<std::int64_t> idle_s_;
  std::optional<std::int64_t> frequency_;
  std::uint64_t keys_ = 0;
  std::string why_;
};

}  // namespace strata::runtime::cache::rdb
