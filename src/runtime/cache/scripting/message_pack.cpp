#include "runtime/cache/scripting/message_pack.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "script/call.hpp"

namespace strata::runtime::cache {

namespace {

using script::value_view;
using script::value_writer;

constexpr int deepest_written = 16;  // what lies deeper is written as nil
constexpr int deepest_read = 1000;

class pack_writer {
 public:
  void value(value_view value, int depth) {
    switch (value.what()) {
      case value_view::kind::boolean: byte(value.truth() ? 0xC3 : 0xC2); break;
      case value_view::kind::number: number(value.number()); break;
      case value_view::kind::text: text(value.text()); break;
      case value_view::kind::table:
        if (depth < deepest_written) {
          table(value, depth);
          break;
        }
        [[fallthrough]];
      default: byte(0xC0); break;
    }
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void byte(unsigned value) { bytes_ += static_cast<char>(value); }
  // The most significant byte first.
  void fixed(std::uint64_t value, unsigned size) {
    while (size-- > 0) byte(static_cast<unsigned>(value >> (8 * size)) & 0xFFU);
  }
  void number(double number);
  void natural(std::uint64_t number);
  void negative(std::int64_t number);
  void text(std::string_view text);
  void table(value_view table, int depth);
  void head(std::size_t size, unsigned small, unsigned large);

  std::string bytes_;
};

void pack_writer::number(double number) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  if (number == std::floor(number) && number >= -limit && number < limit) {
    const auto whole = static_cast<std::int64_t>(number);
    whole < 0 ? negative(whole) : natural(static_cast<std::uint64_t>(whole));
    return;
  }
  const auto single = static_cast<float>(number);
  if (static_cast<double>(single) == number) {
    byte(0xCA);
    fixed(std::bit_cast<std::uint32_t>(single), 4);
  } else {
    byte(0xCB);
    fixed(std::bit_cast<std::uint64_t>(number), 8);
  }
}

void pack_writer::natural(std::uint64_t number) {
  if (number <= 0x7F) {
    byte(static_cast<unsigned>(number));
  } else if (number <= 0xFF) {
    byte(0xCC);
    fixed(number, 1);
  } else if (number <= 0xFFFF) {
    byte(0xCD);
    fixed(number, 2);
  } else if (number <= 0xFFFFFFFF) {
    byte(0xCE);
    fixed(number, 4);
  } else {
    byte(0xCF);
    fixed(number, 8);
  }
}

void pack_writer::negative(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= -32) {
    fixed(bits, 1);
  } else if (number >= INT8_MIN) {
    byte(0xD0);
    fixed(bits, 1);
  } else if (number >= INT16_MIN) {
    byte(0xD1);
    fixed(bits, 2);
  } else if (number >= INT32_MIN) {
    byte(0xD2);
    fixed(bits, 4);
  } else {
    byte(0xD3);
    fixed(bits, 8);
  }
}

void pack_writer::text(std::string_view text) {
  if (text.size() <= 31) {
    byte(0xA0 | static_cast<unsigned>(text.size()));
  } else if (text.size() <= 0xFF) {
    byte(0xD9);
    fixed(text.size(), 1);
  } else {
    byte(text.size() <= 0xFFFF ? 0xDA : 0xDB);
    fixed(text.size(), text.size() <= 0xFFFF ? 2 : 4);
  }
  bytes_ += text;
}

// The head of a list or a map: `small` for up to 15 elements, `large` for up to 65,535, and the one
// behind it for more.
void pack_writer::head(std::size_t size, unsigned small, unsigned large) {
  if (size <= 15) {
    byte(small | static_cast<unsigned>(size));
  } else {
    byte(size <= 0xFFFF ? large : large + 1);
    fixed(size, size <= 0xFFFF ? 2 : 4);
  }
}

void pack_writer::table(value_view table, int depth) {
  std::size_t count = 0;
  double last = 0;
  const bool has_places = table.each_field([&](value_view key, value_view) {
    ++count;
    const bool is_place = key.what() == value_view::kind::number && key.number() > 0 &&
                          key.number() == std::floor(key.number());
    if (is_place && key.number() > last) last = key.number();
    return is_place;
  });
  if (has_places && last == static_cast<double>(count)) {
    head(count, 0x90, 0xDC);
    for (std::size_t place = 1; place <= count; ++place) {
      table.with_element(static_cast<int>(place), [&](value_view element) {
        value(element, depth + 1);
        return true;
      });
    }
    return;
  }
  count = 0;
  table.each_field([&](value_view, value_view) { return ++count > 0; });
  head(count, 0x80, 0xDE);
  table.each_field([&](value_view key, value_view field) {
    value(key, depth + 1);
    value(field, depth + 1);
    return true;
  });
}

class pack_reader {
 public:
  pack_reader(std::string_view bytes, std::size_t position) : bytes_(bytes), at_(position) {}

  /// Writes the next value. Returns false after a failure; the values written so far are left.
  bool value(value_writer& writer, int depth);
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] bool is_at_end() const { return at_ >= bytes_.size(); }
  [[nodiscard]] const char* failure() const { return failure_; }

 private:
  bool fail(const char* why) {
    failure_ = why;
    return false;
  }
  std::optional<std::uint64_t> fixed(unsigned size);
  bool natural(value_writer& writer, unsigned size);
  bool whole(value_writer& writer, unsigned size);
  bool real(value_writer& writer, unsigned size);
  bool text(value_writer& writer, std::uint64_t size);
  bool list(value_writer& writer, std::uint64_t size, int depth);
  bool map(value_writer& writer, std::uint64_t size, int depth);
  bool marked(value_writer& writer, unsigned mark, int depth);
  template <class Read>
  bool sized(unsigned width, Read read) {
    const auto size = fixed(width);
    return size && read(*size);
  }

  std::string_view bytes_;
  std::size_t at_;
  const char* failure_ = nullptr;
};

std::optional<std::uint64_t> pack_reader::fixed(unsigned size) {
  if (bytes_.size() - at_ < size) {
    (void)fail("Missing bytes in input.");
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (; size > 0; --size) number = (number << 8U) | static_cast<unsigned char>(bytes_[at_++]);
  return number;
}

bool pack_reader::natural(value_writer& writer, unsigned size) {
  const auto number = fixed(size);
  if (number) writer.number(static_cast<double>(*number));
  return number.has_value();
}

bool pack_reader::whole(value_writer& writer, unsigned size) {
  const auto bits = fixed(size);
  if (!bits) return false;
  const auto unused = 64 - 8 * size;
  writer.number(static_cast<double>(static_cast<std::int64_t>(*bits << unused) >> unused));
  return true;
}

bool pack_reader::real(value_writer& writer, unsigned size) {
  const auto bits = fixed(size);
  if (!bits) return false;
  writer.number(size == 4
                    ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)))
                    : std::bit_cast<double>(*bits));
  return true;
}

bool pack_reader::text(value_writer& writer, std::uint64_t size) {
  if (bytes_.size() - at_ < size) return fail("Missing bytes in input.");
  writer.text(bytes_.substr(at_, size));
  at_ += size;
  return true;
}

// A count alone takes no memory.
bool pack_reader::list(value_writer& writer, std::uint64_t size, int depth) {
  if (bytes_.size() - at_ < size) return fail("Missing bytes in input.");
  writer.begin_list(size);
  for (std::size_t place = 1; place <= size; ++place) {
    if (!value(writer, depth + 1)) return false;
    writer.element(place);
  }
  return true;
}

bool pack_reader::map(value_writer& writer, std::uint64_t size, int depth) {
  if (bytes_.size() - at_ < size) return fail("Missing bytes in input.");
  writer.begin_table(size);
  for (; size > 0; --size) {
    if (!value(writer, depth + 1) || !value(writer, depth + 1)) return false;
    writer.pair();
  }
  return true;
}

bool pack_reader::marked(value_writer& writer, unsigned mark, int depth) {
  switch (mark) {
    case 0xC0: writer.nil(); return true;
    case 0xC2: writer.boolean(false); return true;
    case 0xC3: writer.boolean(true); return true;
    case 0xCA: return real(writer, 4);
    case 0xCB: return real(writer, 8);
    case 0xCC: return natural(writer, 1);
    case 0xCD: return natural(writer, 2);
    case 0xCE: return natural(writer, 4);
    case 0xCF: return natural(writer, 8);
    case 0xD0: return whole(writer, 1);
    case 0xD1: return whole(writer, 2);
    case 0xD2: return whole(writer, 4);
    case 0xD3: return whole(writer, 8);
    case 0xC4:
    case 0xD9: return sized(1, [&](std::uint64_t size) { return text(writer, size); });
    case 0xC5:
    case 0xDA: return sized(2, [&](std::uint64_t size) { return text(writer, size); });
    case 0xC6:
    case 0xDB: return sized(4, [&](std::uint64_t size) { return text(writer, size); });
    case 0xDC: return sized(2, [&](std::uint64_t size) { return list(writer, size, depth); });
    case 0xDD: return sized(4, [&](std::uint64_t size) { return list(writer, size, depth); });
    case 0xDE: return sized(2, [&](std::uint64_t size) { return map(writer, size, depth); });
    case 0xDF: return sized(4, [&](std::uint64_t size) { return map(writer, size, depth); });
    default: return fail("Bad data format in input.");
  }
}

bool pack_reader::value(value_writer& writer, int depth) {
  if (depth > deepest_read) return fail("Bad data format in input.");
  const auto first = fixed(1);
  if (!first) return false;
  const auto mark = static_cast<unsigned>(*first);
  if (mark <= 0x7F) {
    writer.number(mark);
    return true;
  }
  if (mark >= 0xE0) {
    writer.number(static_cast<double>(mark) - 0x100);
    return true;
  }
  if (mark <= 0x8F) return map(writer, mark & 0xFU, depth);
  if (mark <= 0x9F) return list(writer, mark & 0xFU, depth);
  if (mark <= 0xBF) return text(writer, mark & 0x1FU);
  return marked(writer, mark, depth);
}

void pack_values(void* /*host*/, script::call& call) {
  if (call.count() == 0) {
    call.fail("bad argument #0 to 'pack' (MessagePack pack needs input.)");
    return;
  }
  pack_writer writer;
  for (int at = 0; at < call.count(); ++at) writer.value(call.view(at), 0);
  call.give(std::string_view(writer.bytes()));
}

// Gives back up to `limit` values, 0: all; with an offset in front if it may be continued.
void unpack_some(script::call& call, std::size_t limit, std::size_t offset, bool is_continued) {
  const auto bytes = call.text(0);
  if (offset > bytes.size()) {
    call.fail("Start offset greater than input length.");
    return;
  }
  // The offset is the first value, and known last.
  pack_reader ahead(bytes, offset);
  std::size_t count = 0;
  if (is_continued) call.give_written([](value_writer& writer) { writer.nil(); });
  while (!ahead.is_at_end() && (limit == 0 || count < limit)) {
    bool is_whole = false;
    call.give_written([&](value_writer& writer) { is_whole = ahead.value(writer, 0); });
    if (!is_whole) {
      call.fail(ahead.failure());
      return;
    }
    ++count;
  }
  if (!is_continued) return;
  const auto next = ahead.is_at_end() ? -1.0 : static_cast<double>(ahead.position());
  call.replace_given(0, next);
}

void unpack_all(void* /*host*/, script::call& call) { unpack_some(call, 0, 0, false); }

void unpack_one(void* /*host*/, script::call& call) {
  unpack_some(call, 1, call.has(1) ? call.integer(1) : 0, true);
}

void unpack_limit(void* /*host*/, script::call& call) {
  unpack_some(call, call.integer(1), call.has(2) ? call.integer(2) : 0, true);
}

}  // namespace

std::span<const script::function_row> message_pack_rows() {
  static constexpr std::array<script::function_row, 4> rows = {{
      {"pack", "...: any", "string", "returns the values as MessagePack", pack_values},
      {"unpack", "bytes: string", "any", "returns the values in MessagePack", unpack_all},
      {"unpack_one", "bytes: string, offset?: integer", "any",
       "returns the next offset, or -1, and one value", unpack_one},
      {"unpack_limit", "bytes: string, limit: integer, offset?: integer", "any",
       "returns the next offset, or -1, and some values", unpack_limit},
  }};
  return rows;
}

}  // namespace strata::runtime::cache
