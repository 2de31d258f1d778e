#include "runtime/cache/values/entry.hpp"

#include <array>
#include <cstring>
#include <new>
#include <utility>

namespace strata::runtime::cache {

namespace {

// The longest string that Redis stores in one block with its object (embstr).
constexpr std::size_t most_embedded = 44;
// How many times too large a block may be for its text before it is freed.
constexpr std::size_t worst_waste = 4;
constexpr std::size_t small_block = 256;

}  // namespace

std::string_view name_of(value_kind type) {
  constexpr std::array<std::string_view, 6> names = {"string", "list", "set",
                                                     "zset",   "hash", "stream"};
  return names[static_cast<std::size_t>(type)];
}

entry* entry::make_block(std::string_view key, std::size_t room, std::int64_t expires_at_ms) {
  const bool expires = expires_at_ms != never;
  const std::size_t fixed = header_size + (expires ? sizeof expires_at_ms : 0) + key.size();
  const std::size_t whole = room == 0 ? fixed : allocation_size(fixed + room);
  auto* const made = new (allocate(whole)) entry;
  made->key_size_ = static_cast<std::uint32_t>(key.size());
  if (expires) {
    made->flags_ |= expiry_flag;
    std::memcpy(made->bytes() + header_size, &expires_at_ms, sizeof expires_at_ms);
  }
  copy_text(made->bytes() + made->key_offset(), key);
  made->value_.text = {0, static_cast<std::uint32_t>(whole - fixed)};
  return made;
}

entry* entry::make_text(std::string_view key, std::string_view text, std::int64_t expires_at_ms) {
  if (const auto number = text::parse_integer(text)) {
    auto* const made = make_block(key, 0, expires_at_ms);
    made->flags_ |= integer_flag;
    made->value_.integer = *number;
    return made;
  }
  return make_bytes(key, text, expires_at_ms, false);
}

entry* entry::make_bytes(std::string_view key, std::string_view bytes, std::int64_t expires_at_ms,
                         bool changed) {
  auto* const made = make_block(key, bytes.size(), expires_at_ms);
  made->value_.text.size = static_cast<std::uint32_t>(bytes.size());
  copy_text(made->bytes() + made->key_offset() + key.size(), bytes);
  if (changed) made->flags_ |= changed_flag;
  return made;
}

entry* entry::make(std::string_view key, std::unique_ptr<collection> value,
                   std::int64_t expires_at_ms) {
  auto* const made = make_block(key, 0, expires_at_ms);
  made->type_ = static_cast<std::uint32_t>(value->type()) & 0xFU;
  made->value_.object = value.release();
  return made;
}

entry* entry::move_from(entry& source, std::string_view key, std::int64_t expires_at_ms) {
  entry* made = nullptr;
  if (!source.is_string()) {
    made = make(key, std::unique_ptr<collection>(std::exchange(source.value_.object, nullptr)),
                expires_at_ms);
  } else if (source.is_integer()) {
    made = make_block(key, 0, expires_at_ms);
    made->flags_ |= integer_flag;
    made->value_.integer = source.value_.integer;
  } else {
    made = make_bytes(key, source.text(), expires_at_ms, (source.flags_ & changed_flag) != 0);
  }
  made->access_ = source.access_;
  return made;
}

entry* entry::grow_text(entry& source, std::size_t size) {
  const string_view_of old(source);
  auto* const made =
      make_block(source.key(), std::max<std::size_t>(size, 1), source.expires_at_ms());
  const auto kept = std::min(size, old.view().size());
  made->value_.text.size = static_cast<std::uint32_t>(kept);
  copy_text(made->bytes() + made->key_offset() + made->key_size_, old.view().substr(0, kept));
  made->access_ = source.access_;
  made->flags_ |= changed_flag;
  return made;
}

void entry::destroy(entry* which) {
  if (which == nullptr) return;
  if (!which->is_string()) delete which->value_.object;
  release(which, which->block_size());
}

std::int64_t entry::expires_at_ms() const {
  if (!has_expiry()) return never;
  std::int64_t at = 0;
  std::memcpy(&at, bytes() + header_size, sizeof at);
  return at;
}

void entry::change_expiry(std::int64_t at_ms) {
  std::memcpy(bytes() + header_size, &at_ms, sizeof at_ms);
}

std::size_t entry::memory() const {
  return allocation_size(block_size()) + (is_string() ? 0 : value_.object->memory());
}

std::string_view entry::encoding() const {
  if (!is_string()) return value_.object->encoding();
  if (is_integer()) return "int";
  return value_.text.size <= most_embedded && (flags_ & changed_flag) == 0 ? "embstr" : "raw";
}

bool entry::assign(std::string_view text) {
  const auto number = text::parse_integer(text);
  if (number.has_value() != is_integer()) return false;
  if (number) {
    value_.integer = *number;
    return true;
  }
  const auto room = capacity();
  if (text.size() > room || (room > small_block && text.size() * worst_waste < room)) return false;
  copy_text(bytes() + key_offset() + key_size_, text);
  value_.text.size = static_cast<std::uint32_t>(text.size());
  flags_ &= ~changed_flag & 0xFU;
  return true;
}

void entry::assign_integer(std::int64_t value) { value_.integer = value; }

char* entry::resize_text(std::size_t size) {
  value_.text.size = static_cast<std::uint32_t>(size);
  flags_ |= changed_flag;
  return bytes() + key_offset() + key_size_;
}

void entry::set_object(std::unique_ptr<collection> value) {
  delete value_.object;
  value_.object = value.release();
}

}  // namespace strata::runtime::cache
