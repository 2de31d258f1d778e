#include "runtime/cache/values/pack.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {

namespace {

constexpr unsigned char end_mark = 0xFF;
constexpr std::size_t pack_header_size = 6;
constexpr std::size_t most_back = 5;  // the most bytes of the length at an element's end

// An element's bytes before its text (for an integer, all of them), as numbers: storing bytes one
// by one and then returning them as a word would stall the processor.
struct head {
  unsigned first;
  unsigned more = 0;       // bytes after the first
  std::uint64_t rest = 0;  // those bytes, least significant first

  [[nodiscard]] std::size_t size() const { return 1 + more; }
  void write(unsigned char* bytes) const {
    bytes[0] = static_cast<unsigned char>(first);
    for (unsigned i = 0; i < more; ++i) bytes[1 + i] = static_cast<unsigned char>(rest >> 8 * i);
  }
};

bool fits(std::int64_t value, unsigned bits) {
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return value >= -half && value < half;
}

head integer_head(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0 && value <= 127) return {static_cast<unsigned>(value)};
  if (fits(value, 13)) return {0xC0U | static_cast<unsigned>(bits >> 8U & 0x1F), 1, bits};
  if (fits(value, 16)) return {0xF1, 2, bits};
  if (fits(value, 24)) return {0xF2, 3, bits};
  if (fits(value, 32)) return {0xF3, 4, bits};
  return {0xF4, 8, bits};
}

head text_head(std::size_t size) {
  if (size < 64) return {0x80U | static_cast<unsigned>(size)};
  if (size < 4096) return {0xE0U | static_cast<unsigned>(size >> 8U), 1, size};
  return {0xF0, 4, size};
}

// The size of an element's length, 7 bits per byte, most significant first, to be read from its
// end.
unsigned back_size(std::size_t size) {
  if (size <= 127) return 1;
  if (size < 16384) return 2;
  if (size < 2097152) return 3;
  return size < 268435456 ? 4 : 5;
}

void write_back(unsigned char* bytes, std::size_t size) {
  const unsigned count = back_size(size);
  for (unsigned i = count; i-- != 0; size >>= 7U) {
    bytes[i] = static_cast<unsigned char>((size & 0x7F) | (i == 0 ? 0 : 0x80));
  }
}

std::uint64_t read_little(const unsigned char* bytes, unsigned count) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

std::int64_t read_signed(const unsigned char* bytes, unsigned count) {
  if (count == 0) return 0;
  const unsigned unused = 64 - 8 * count;
  return static_cast<std::int64_t>(read_little(bytes, count) << unused) >> unused;
}

unsigned integer_bytes(unsigned mark) {
  switch (mark) {
    case 0xF1: return 2;
    case 0xF2: return 3;
    case 0xF3: return 4;
    case 0xF4: return 8;
    default: return 0;
  }
}

// The layout of an element from its first bytes: where its text begins, and its size. For integers
// the text is the bytes behind the mark.
struct shape {
  unsigned head;
  std::size_t body;
};

std::optional<shape> shape_of(const unsigned char* at, std::size_t room) {
  const unsigned mark = at[0];
  if (mark < 0x80) return shape{1, 0};
  if (mark < 0xC0) return shape{1, mark & 0x3FU};
  if (mark < 0xE0) return shape{2, 0};
  if (mark < 0xF0) {
    if (room < 2) return {};
    return shape{2, (mark & 0x0FU) << 8U | at[1]};
  }
  if (mark == 0xF0) {
    if (room < 5) return {};
    return shape{5, read_little(at + 1, 4)};
  }
  const unsigned bytes = integer_bytes(mark);
  if (bytes == 0) return {};
  return shape{1, bytes};
}

shape known_shape(const unsigned char* bytes) { return *shape_of(bytes, SIZE_MAX); }

}  // namespace

pack::pack(const pack& other) {
  if (other.count_ == 0) return;
  const auto size = other.end_ - other.begin_;
  make_room(size, false);
  std::memcpy(memory_ + begin_, other.memory_ + other.begin_, size);
  end_ = begin_ + size;
  count_ = other.count_;
}

pack::~pack() { release(memory_, capacity_); }

void pack::swap(pack& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(capacity_, other.capacity_);
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  std::swap(count_, other.count_);
}

pack::offset pack::size_at(offset at) const {
  // Most elements are small integers or short texts.
  const unsigned mark = memory_[at];
  if (mark < 0x80) return 2;
  if (mark < 0xC0) return 2 + (mark & 0x3FU);
  if (mark < 0xE0) return 3;
  const auto found = known_shape(memory_ + at);
  const auto size = found.head + found.body;
  return static_cast<offset>(size + back_size(size));
}

pack::offset pack::previous_of(offset at) const {
  std::size_t size = 0;
  unsigned shift = 0;
  offset from = at;
  unsigned char byte = 0;
  do {
    byte = memory_[--from];
    size |= std::size_t{byte & 0x7FU} << shift;
    shift += 7;
  } while ((byte & 0x80U) != 0);
  return static_cast<offset>(at - back_size(size) - size);
}

pack::offset pack::seek(std::int64_t index) const {
  const auto count = static_cast<std::int64_t>(count_);
  if (index < 0) index += count;
  if (index < 0 || index >= count) return none;
  if (index < count / 2) {
    offset at = begin_;
    while (index-- != 0) at += size_at(at);
    return at;
  }
  offset at = end_;
  for (auto back = count - index; back != 0; --back) at = previous_of(at);
  return at;
}

std::optional<std::int64_t> pack::integer_at(offset offset) const {
  const auto* const bytes = memory_ + offset;
  const unsigned mark = bytes[0];
  if (mark < 0x80) return mark;
  if (mark >= 0xC0 && mark < 0xE0) {
    const auto value = static_cast<std::int64_t>((mark & 0x1FU) << 8U | bytes[1]);
    return value >= 4096 ? value - 8192 : value;
  }
  const unsigned width = integer_bytes(mark);
  if (width == 0) return {};
  return read_signed(bytes + 1, width);
}

element pack::at(offset offset) const {
  if (const auto integer = integer_at(offset)) return element(*integer);
  const auto* const bytes = memory_ + offset;
  const auto found = known_shape(bytes);
  return element(std::string_view(reinterpret_cast<const char*>(bytes + found.head), found.body));
}

bool pack::equals(offset offset, std::string_view text) const { return at(offset).text() == text; }

pack::offset pack::find(std::string_view text, offset offset, unsigned step) const {
  if (offset == none) return none;
  const auto number = text::parse_integer(text);
  if (!number && text.size() < 64) return find_short(text, offset, step);
  while (offset != end_) {
    const unsigned mark = memory_[offset];
    const bool is_text = (mark >= 0x80 && mark < 0xC0) || (mark >= 0xE0 && mark <= 0xF0);
    if (is_text != number.has_value()) {
      if (!is_text) {
        if (at(offset).integer() == number) return offset;
      } else {
        const auto found = known_shape(memory_ + offset);
        if (found.body == text.size() &&
            std::memcmp(memory_ + offset + found.head, text.data(), text.size()) == 0) {
          return offset;
        }
      }
    }
    for (unsigned i = 0; i < step && offset != end_; ++i) offset += size_at(offset);
  }
  return none;
}

// For a text of less than 64 bytes: its length is in its first byte.
pack::offset pack::find_short(std::string_view text, offset offset, unsigned step) const {
  const unsigned mark = 0x80U | static_cast<unsigned>(text.size());
  while (offset != end_) {
    if (memory_[offset] == mark &&
        std::memcmp(memory_ + offset + 1, text.data(), text.size()) == 0) {
      return offset;
    }
    for (unsigned i = 0; i < step && offset != end_; ++i) offset += size_at(offset);
  }
  return none;
}

void pack::make_room(offset size, bool at_front) {
  const offset used = end_ - begin_;
  // The allocator's sizes grow by a quarter at most, which is room enough.
  const std::size_t wanted = allocation_size(std::size_t{used} + size);
  auto* const moved = static_cast<unsigned char*>(allocate(wanted));
  const auto slack = static_cast<offset>(wanted) - used - size;
  // Puts the room at the end where elements are pushed: most lists grow at one end.
  const offset begin = at_front ? slack + size : 0;
  if (used != 0) std::memcpy(moved + begin, memory_ + begin_, used);
  release(memory_, capacity_);
  memory_ = moved;
  capacity_ = static_cast<std::uint32_t>(wanted);
  begin_ = begin;
  end_ = begin + used;
}

pack::offset pack::open_gap(offset where, offset size) {
  const offset before = where - begin_;
  const bool at_front = before < end_ - where;
  const bool has_room = at_front ? begin_ >= size : capacity_ - end_ >= size;
  if (!has_room) make_room(size, at_front);
  if (at_front) {
    begin_ -= size;
    std::memmove(memory_ + begin_, memory_ + begin_ + size, before);
  } else {
    const offset from = begin_ + before;
    std::memmove(memory_ + from + size, memory_ + from, end_ - from);
    end_ += size;
  }
  return begin_ + before;
}

void pack::insert_bytes(offset where, std::string_view text) {
  const auto number = text::parse_integer(text);
  const head made = number ? integer_head(*number) : text_head(text.size());
  const std::size_t size = made.size() + (number ? 0 : text.size());
  const auto whole = static_cast<offset>(size + back_size(size));
  const offset gap = open_gap(where, whole);
  auto* const at = memory_ + gap;
  made.write(at);
  if (!number) copy_text(at + made.size(), text);
  write_back(at + size, size);
  ++count_;
}

pack::offset pack::replace(offset where, std::string_view text) {
  const auto number = text::parse_integer(text);
  const head made = number ? integer_head(*number) : text_head(text.size());
  const std::size_t size = made.size() + (number ? 0 : text.size());
  const auto whole = static_cast<offset>(size + back_size(size));
  const auto old = size_at(where);
  if (whole != old) {
    // Everything behind it moves; everything before it, and so its own offset, stays.
    const offset tail = end_ - where - old;
    if (whole > old && capacity_ - end_ < whole - old) {
      const offset before = where - begin_;
      make_room(whole - old, false);
      where = begin_ + before;
    }
    std::memmove(memory_ + where + whole, memory_ + where + old, tail);
    end_ = end_ - old + whole;
  }
  auto* const at = memory_ + where;
  made.write(at);
  if (!number) copy_text(at + made.size(), text);
  write_back(at + size, size);
  return where;
}

pack::offset pack::erase(offset where, std::size_t count) {
  offset behind = where;
  std::uint32_t erased = 0;
  for (; erased < count && behind != end_; ++erased) behind += size_at(behind);
  count_ -= erased;
  const offset size = behind - where;
  if (where - begin_ < end_ - behind) {
    std::memmove(memory_ + begin_ + size, memory_ + begin_, where - begin_);
    begin_ += size;
    return behind == end_ ? none : behind;
  }
  std::memmove(memory_ + where, memory_ + behind, end_ - behind);
  end_ -= size;
  return where == end_ ? none : where;
}

void pack::shrink() {
  if (allocation_size(end_ - begin_) < capacity_) *this = pack(*this);
}

std::string pack::dump() const {
  std::string made(pack_header_size, '\0');
  const auto total = static_cast<std::uint32_t>(bytes());
  const auto count = static_cast<std::uint16_t>(std::min<std::uint32_t>(count_, UINT16_MAX));
  std::memcpy(made.data(), &total, sizeof total);
  std::memcpy(made.data() + sizeof total, &count, sizeof count);
  if (count_ != 0) made.append(reinterpret_cast<const char*>(memory_ + begin_), end_ - begin_);
  made += static_cast<char>(end_mark);
  return made;
}

std::optional<pack> pack::load(std::string_view dumped) {
  std::uint32_t total = 0;
  std::uint16_t count = 0;
  if (dumped.size() < envelope_size) return {};
  std::memcpy(&total, dumped.data(), sizeof total);
  std::memcpy(&count, dumped.data() + sizeof total, sizeof count);
  if (total != dumped.size() || static_cast<unsigned char>(dumped.back()) != end_mark) return {};
  const auto body = dumped.substr(pack_header_size, dumped.size() - envelope_size);
  const auto* const first = reinterpret_cast<const unsigned char*>(body.data());
  std::size_t at = 0;
  std::uint32_t seen = 0;
  while (at < body.size()) {
    const auto found = shape_of(first + at, body.size() - at);
    if (!found) return {};
    const auto size = found->head + found->body;
    const auto whole = size + back_size(size);
    if (whole > body.size() - at) return {};
    std::array<unsigned char, most_back> back{};
    write_back(back.data(), size);
    if (std::memcmp(first + at + size, back.data(), back_size(size)) != 0) return {};
    at += whole;
    ++seen;
  }
  if (count != UINT16_MAX && count != seen) return {};
  pack made;
  if (seen == 0) return made;
  made.make_room(static_cast<offset>(body.size()), false);
  std::memcpy(made.memory_, body.data(), body.size());
  made.end_ = static_cast<offset>(body.size());
  made.count_ = seen;
  return made;
}

}  // namespace strata::runtime::cache
