#include "runtime/cache/scripting/binary_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "script/call.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::size_t largest_integer = 32;  // bytes
constexpr std::size_t native_alignment = 8;

/// One item of a format.
struct item {
  char kind = 0;
  std::size_t size = 0;     ///< 0 of `s` and `c0`: not fixed
  std::size_t padding = 0;  ///< bytes in front of it
};

/// Reads a format, item by item.
class layout {
 public:
  /// `skips_unknown`: letters and digits that stand for nothing are no failure.
  explicit layout(std::string_view format, bool skips_unknown = false)
      : format_(format), skips_unknown_(skips_unknown) {}

  /// The next item that stands for bytes, `position` bytes behind the beginning; nullopt at the
  /// end, and after a failure.
  std::optional<item> next(std::size_t position);
  [[nodiscard]] bool is_little() const { return is_little_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  std::optional<std::size_t> number();
  bool control(char sign);
  std::optional<item> sized(char sign);

  std::string_view format_;
  bool skips_unknown_;
  bool is_little_ = true;
  std::size_t alignment_ = 1;
  std::string failure_;
};

// Larger numbers than any length are cut.
std::optional<std::size_t> layout::number() {
  std::optional<std::size_t> value;
  while (!format_.empty() && format_[0] >= '0' && format_[0] <= '9') {
    const auto digit = static_cast<std::size_t>(format_[0] - '0');
    value = std::min<std::size_t>(value.value_or(0) * 10 + digit, UINT32_MAX);
    format_.remove_prefix(1);
  }
  return value;
}

// Reports whether the sign stands for no bytes.
bool layout::control(char sign) {
  switch (sign) {
    case ' ': return true;
    case '>': is_little_ = false; return true;
    case '<':
    case '=': is_little_ = true; return true;
    case '!':
      alignment_ = number().value_or(native_alignment);
      if (!std::has_single_bit(alignment_)) failure_ = "alignment is not a power of 2";
      return true;
    default: return false;
  }
}

// Returns nullopt if the sign stands for nothing.
std::optional<item> layout::sized(char sign) {
  switch (sign) {
    case 'b':
    case 'B':
    case 'x': return item{.kind = sign, .size = 1};
    case 'h':
    case 'H': return item{.kind = sign, .size = 2};
    case 'l':
    case 'L':
    case 'T':
    case 'd': return item{.kind = sign, .size = 8};
    case 'f': return item{.kind = sign, .size = 4};
    case 's': return item{.kind = sign};
    case 'c': return item{.kind = sign, .size = number().value_or(1)};
    case 'i':
    case 'I': {
      const auto size = number().value_or(4);
      if (size >= 1 && size <= largest_integer) return item{.kind = sign, .size = size};
      failure_ = fmt::format("integral size {} is larger than limit of {}", size, largest_integer);
      return std::nullopt;
    }
    default:
      if (!skips_unknown_ || std::isalnum(static_cast<unsigned char>(sign)) == 0) {
        failure_ = fmt::format("invalid format option '{}'", sign);
      }
      return std::nullopt;
  }
}

std::optional<item> layout::next(std::size_t position) {
  while (!format_.empty() && failure_.empty()) {
    const char sign = format_[0];
    format_.remove_prefix(1);
    if (control(sign)) continue;
    auto found = sized(sign);
    if (!found) continue;
    const auto aligned = std::min(found->size, alignment_);
    if (aligned > 1 && sign != 'c') {
      if (!std::has_single_bit(aligned)) {
        failure_ = "alignment is not a power of 2";
        return std::nullopt;
      }
      found->padding = (aligned - (position & (aligned - 1))) & (aligned - 1);
    }
    return found;
  }
  return std::nullopt;
}

bool is_signed(char kind) { return kind == 'b' || kind == 'h' || kind == 'l' || kind == 'i'; }

// As C converts it on x86-64.
std::uint64_t bits_of(double number) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  if (number < 0) {
    return number >= -limit ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                            : static_cast<std::uint64_t>(INT64_MIN);
  }
  return number < 2 * limit ? static_cast<std::uint64_t>(number) : 0;
}

void put_integer(std::string& bytes, std::uint64_t bits, std::size_t size, bool is_little) {
  std::array<char, largest_integer> made{};
  const bool is_negative = static_cast<std::int64_t>(bits) < 0;
  for (std::size_t at = 0; at < size; ++at) {
    const auto value =
        at < 8 ? static_cast<unsigned>(bits >> (8 * at)) & 0xFFU : (is_negative ? 0xFFU : 0U);
    made[is_little ? at : size - 1 - at] = static_cast<char>(value);
  }
  bytes.append(made.data(), size);
}

std::uint64_t integer_in(std::string_view bytes, bool is_little) {
  std::uint64_t bits = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const auto place = is_little ? bytes.size() - 1 - at : at;
    bits = (bits << 8U) | static_cast<unsigned char>(bytes[place]);
  }
  return bits;
}

bool put_text(script::call& call, std::string& bytes, const item& each, std::string_view text) {
  if (each.kind == 's') {
    bytes += text;
    bytes += '\0';
    return true;
  }
  const auto size = each.size == 0 ? text.size() : each.size;
  if (text.size() < size) {
    call.fail("string too short");
    return false;
  }
  bytes += text.substr(0, size);
  return true;
}

bool put_item(script::call& call, std::string& bytes, const item& each, int argument,
              bool is_little) {
  const bool is_text = each.kind == 's' || each.kind == 'c';
  const bool fits = is_text ? call.is_text(argument) : call.view(argument).is_numeric();
  if (!fits) {
    call.fail(fmt::format("bad argument #{} to 'pack' ({} expected, got {})", argument + 1,
                          is_text ? "string" : "number",
                          argument < call.count() ? call.view(argument).type_name() : "no value"));
    return false;
  }
  if (is_text) return put_text(call, bytes, each, call.text(argument));
  const auto number = call.number(argument);
  if (each.kind == 'f') {
    put_integer(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4, is_little);
  } else if (each.kind == 'd') {
    put_integer(bytes, std::bit_cast<std::uint64_t>(number), 8, is_little);
  } else {
    put_integer(bytes, bits_of(number), each.size, is_little);
  }
  return true;
}

void pack_layout(void* /*host*/, script::call& call) {
  layout format(call.text(0));
  std::string bytes;
  int argument = 1;
  while (const auto each = format.next(bytes.size())) {
    bytes.append(each->padding, '\0');
    if (each->kind == 'x') {
      bytes += '\0';
    } else if (!put_item(call, bytes, *each, argument++, format.is_little())) {
      return;
    }
  }
  if (!format.failure().empty()) {
    call.fail(format.failure());
    return;
  }
  call.give(std::string_view(bytes));
}

double number_of(const item& each, std::string_view bytes, bool is_little) {
  const auto bits = integer_in(bytes, is_little);
  if (each.kind == 'f') return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (each.kind == 'd') return std::bit_cast<double>(bits);
  if (!is_signed(each.kind)) return static_cast<double>(bits);
  if (each.size >= 8) return static_cast<double>(static_cast<std::int64_t>(bits));
  const auto unused = 64 - 8 * each.size;
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

/// Reads values, one after another.
class layout_reader {
 public:
  layout_reader(script::call& call, std::string_view bytes, std::size_t position)
      : call_(call), bytes_(bytes), at_(position) {}

  bool take(const item& each, bool is_little);
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  bool take_text(const item& each);
  bool fail(const char* why) {
    call_.fail(why);
    return false;
  }

  script::call& call_;
  std::string_view bytes_;
  std::size_t at_;
  bool has_last_ = false;
  double last_ = 0;  // the number that was read last, as the length of `c0`
};

bool layout_reader::take(const item& each, bool is_little) {
  if (each.padding > bytes_.size() - at_) return fail("data string too short");
  at_ += each.padding;
  if (each.size > bytes_.size() - at_) return fail("data string too short");
  if (each.kind == 's' || each.kind == 'c') return take_text(each);
  if (each.kind != 'x') {
    has_last_ = true;
    last_ = number_of(each, bytes_.substr(at_, each.size), is_little);
    call_.give_written([this](script::value_writer& writer) { writer.number(last_); });
  }
  at_ += each.size;
  return true;
}

bool layout_reader::take_text(const item& each) {
  auto size = each.size;
  if (each.kind == 's') {
    const auto end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return fail("unfinished string in data");
    size = end - at_;
  } else if (size == 0) {
    if (!has_last_) return fail("format `c0' needs a previous size");
    if (last_ < 0 || last_ > static_cast<double>(bytes_.size() - at_)) {
      return fail("data string too short");
    }
    size = static_cast<std::size_t>(last_);
    call_.take_back();
  }
  call_.give_written([&](script::value_writer& writer) { writer.text(bytes_.substr(at_, size)); });
  has_last_ = false;
  at_ += size + (each.kind == 's' ? 1 : 0);
  return true;
}

void unpack_layout(void* /*host*/, script::call& call) {
  layout format(call.text(0));
  const auto bytes = call.text(1);
  const auto first = call.has(2) ? call.integer(2) : 1;
  if (first < 1 || first - 1 > bytes.size()) {
    call.fail(first < 1 ? "offset must be 1 or greater" : "data string too short");
    return;
  }
  layout_reader reader(call, bytes, first - 1);
  while (const auto each = format.next(reader.position())) {
    if (!reader.take(*each, format.is_little())) return;
  }
  if (!format.failure().empty()) {
    call.fail(format.failure());
    return;
  }
  call.give(static_cast<double>(reader.position() + 1));
}

// Redis's looks only for what has a size.
void size_layout(void* /*host*/, script::call& call) {
  layout format(call.text(0), true);
  std::size_t at = 0;
  while (const auto each = format.next(at)) {
    if (each->size == 0) {
      call.fail(each->kind == 's' ? "option 's' has no fixed size"
                                  : "option 'c0' has no fixed size");
      return;
    }
    at += each->padding + each->size;
  }
  if (!format.failure().empty()) {
    call.fail(format.failure());
    return;
  }
  call.give(static_cast<double>(at));
}

}  // namespace

std::span<const script::function_row> binary_layout_rows() {
  static constexpr std::array<script::function_row, 3> rows = {{
      {"pack", "format: string, ...: any", "string", "returns the values in that layout",
       pack_layout},
      {"unpack", "format: string, bytes: string, first?: integer", "any",
       "returns the values in that layout, and the position behind them", unpack_layout},
      {"size", "format: string", "number", "returns the size of that layout", size_layout},
  }};
  return rows;
}

}  // namespace strata::runtime::cache
