#include "runtime/cache/disk/rdb_file.hpp"

#include <fmt/format.h>

#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/keyspace.hpp"
#include "runtime/cache/engine/scripts/script_head.hpp"
#include "runtime/cache/engine/version.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache::rdb {

// --- writing

void file_writer::field(std::string_view name, std::string_view value) {
  writer_.put(mark::field);
  writer_.string(name);
  writer_.string(value);
}

void file_writer::begin(std::int64_t now_ms, std::int64_t used_memory, bool is_log_base,
                        bool has_field_times) {
  if (!has_field_times) writer_.leave_out_field_times();
  writer_.text() += fmt::format("REDIS{:04}", has_field_times ? field_times_version : version);
  field("redis-ver", compatible_version);
  field("redis-bits", "64");
  field("ctime", text::integer_text(now_ms / 1000).view());
  field("used-mem", text::integer_text(used_memory).view());
  field("aof-base", is_log_base ? "1" : "0");
}

void file_writer::function(std::string_view text) {
  writer_.put(mark::function);
  writer_.string(text);
}

void file_writer::database(unsigned index, std::size_t keys, std::size_t expiring) {
  writer_.put(mark::database);
  writer_.length(index);
  writer_.put(mark::resize);
  writer_.length(keys);
  writer_.length(expiring);
}

void file_writer::put(const entry& entry, eviction policy, std::int64_t now_ms) {
  if (entry.has_expiry()) {
    writer_.put(mark::expiry_ms);
    writer_.fixed(static_cast<std::uint64_t>(entry.expires_at_ms()), 8);
  }
  if (policy == eviction::all_lru || policy == eviction::volatile_lru) {
    writer_.put(mark::idle);
    writer_.length(static_cast<std::uint64_t>(idle_seconds(entry.access(), now_ms)));
  } else if (is_lfu(policy)) {
    writer_.put(mark::frequency);
    writer_.byte(entry.access() & 0xFFU);
  }
  writer_.kind(entry);
  writer_.string(entry.key());
  writer_.value(entry);
}

void file_writer::end() {
  writer_.put(mark::end);
  writer_.fixed(checksum(writer_.text(), sum_), 8);
}

std::string file_writer::take() {
  sum_ = checksum(writer_.text(), sum_);
  return std::exchange(writer_.text(), {});
}

// --- reading

file_reader::outcome file_reader::fail(std::string why) {
  why_ = fmt::format("{}, at byte {}", why, reader_.position());
  return outcome::failed;
}

bool file_reader::read_head() {
  const auto head = reader_.bytes(9);
  if (!is_one(head)) {
    (void)fail("the data is not a Redis snapshot (RDB file)");
    return false;
  }
  for (const char each : head.substr(5)) version_ = version_ * 10 + (each - '0');
  if (version_ < 1 || version_ > field_times_version) {
    (void)fail(fmt::format("the format version is '{}', but only versions 1 to {} are supported",
                           head.substr(5), field_times_version));
    return false;
  }
  has_head_ = true;
  return true;
}

file_reader::outcome file_reader::step(std::size_t most_keys) {
  if (!has_head_ && !read_head()) return outcome::failed;
  while (most_keys != 0) {
    bool was_key = false;
    const auto how = read_item(was_key);
    if (how != outcome::more) return how;
    if (reader_.failed()) return fail("the data is damaged or truncated");
    if (was_key) --most_keys;
  }
  return outcome::more;
}

file_reader::outcome file_reader::read_item(bool& was_key) {
  const auto what = reader_.byte();
  if (reader_.failed()) return fail("the data is truncated");
  switch (static_cast<mark>(what)) {
    case mark::expiry_ms:
      expires_at_ms_ = static_cast<std::int64_t>(reader_.fixed(8));
      return outcome::more;
    case mark::expiry_s:
      expires_at_ms_ = static_cast<std::int32_t>(reader_.fixed(4)) * std::int64_t{1000};
      return outcome::more;
    case mark::idle: idle_s_ = static_cast<std::int64_t>(reader_.length()); return outcome::more;
    case mark::frequency: frequency_ = reader_.byte(); return outcome::more;
    case mark::database: {
      const auto index = reader_.length();
      if (index >= keyspace::database_count) {
        return fail(fmt::format("database {} is out of range: the cache has {} databases", index,
                                keyspace::database_count));
      }
      database_ = static_cast<unsigned>(index);
      return outcome::more;
    }
    case mark::resize:
      (void)reader_.length();
      (void)reader_.length();
      return outcome::more;
    case mark::field:
      (void)reader_.string();
      (void)reader_.string();
      return outcome::more;
    case mark::function: return read_function();
    case mark::module_data: return fail("the data contains module data, which is not supported");
    case mark::end: return read_end();
    default: break;
  }
  was_key = true;
  return read_key(what) ? outcome::more : outcome::failed;
}

file_reader::outcome file_reader::read_function() {
  auto text = reader_.string();
  if (reader_.failed()) return fail("the data is damaged or truncated");
  const auto head = read_library_head(text);
  if (!head) return fail(fmt::format("a library of functions cannot be read: {}", head.error()));
  std::string name(head->name);
  into_.functions().put(std::move(name), std::move(text));
  return outcome::more;
}

bool file_reader::read_key(unsigned kind) {
  const auto key = reader_.string();
  if (reader_.failed()) {
    (void)fail("the data is damaged or truncated");
    return false;
  }
  const auto began = reader_.position();
  entry* const made = reader_.value(kind, key, expires_at_ms_, settings_);
  if (made == nullptr) {
    (void)fail(fmt::format("the value of the key {}, of kind {}, is damaged or unknown",
                           text::quoted(std::string_view(key).substr(0, 128)), kind));
    why_ += fmt::format(" (the value begins at byte {})", began);
    return false;
  }
  const auto hash = hash_of(key);
  if (into_[database_].find(key, hash) != nullptr) {
    entry::destroy(made);
    (void)fail(
        fmt::format("the key {} occurs twice", text::quoted(std::string_view(key).substr(0, 128))));
    return false;
  }
  made->set_access(stored_access(settings_, into_.now_ms(), idle_s_, frequency_));
  into_[database_].add(made, hash);
  ++keys_;
  expires_at_ms_ = entry::never;
  idle_s_.reset();
  frequency_.reset();
  return true;
}

file_reader::outcome file_reader::read_end() {
  if (version_ < 5) return outcome::done;
  const auto end = reader_.position();
  const auto sum = reader_.fixed(8);
  if (reader_.failed()) return fail("the checksum is truncated");
  // 0 means that the file was written without a checksum.
  if (sum != 0 && sum != checksum(text_.substr(0, end))) return fail("the checksum is wrong");
  return outcome::done;
}

}  // namespace strata::runtime::cache::rdb
