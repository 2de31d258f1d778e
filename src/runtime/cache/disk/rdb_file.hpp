// A snapshot file: values (rdb.hpp) under their keys, database by database, with a checksum at the
// end. Also what an append-only log begins with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/cache/disk/rdb.hpp"

namespace strata::runtime::cache {

class keyspace;

}  // namespace strata::runtime::cache

namespace strata::runtime::cache::rdb {

/// Writes a file piece by piece; whoever drives it takes what is there now and then.
class file_writer {
 public:
  /// `is_log_base`: commands will follow behind the end.
  void begin(std::int64_t now_ms, std::int64_t used_memory, bool is_log_base);
  /// What follows is in this database, which holds `keys` keys.
  void database(unsigned index, std::size_t keys, std::size_t expiring);
  void put(const entry& entry, eviction policy, std::int64_t now_ms);
  void end();

  /// Bytes that wait to be taken.
  [[nodiscard]] std::size_t size() const { return writer_.text().size(); }
  [[nodiscard]] std::string take();

 private:
  void field(std::string_view name, std::string_view value);

  writer writer_;
  std::uint64_t sum_ = 0;
};

/// Puts what a file holds into a keyspace, which should be empty, some keys at a time.
class file_reader {
 public:
  enum class outcome : std::uint8_t { more, done, failed };

  /// `text` is the file, or more than it: `position()` tells where it ended.
  file_reader(std::string_view text, keyspace& keyspace, const parameters& settings)
      : reader_(text), text_(text), into_(keyspace), settings_(settings) {}

  /// Whether it begins as such a file does.
  [[nodiscard]] static bool is_one(std::string_view text) { return text.starts_with("REDIS"); }
  [[nodiscard]] outcome step(std::size_t most_keys);
  [[nodiscard]] std::size_t position() const { return reader_.position(); }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }
  /// After `failed`: why, in a sentence's second half.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  bool read_head();
  /// One thing of the file; `fresh` is set when that was a key.
  outcome read_item(bool& was_key);
  bool read_key(unsigned kind);
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
