#include "message.hpp"

namespace strata::bench {

namespace {

constexpr std::size_t sequence_digits = 8;
constexpr std::size_t stamp_digits = 10;
constexpr std::size_t header_size = 1 + sequence_digits + stamp_digits;
constexpr std::size_t letters = 26;

// Base 64 from '0' upward: printable, never a newline, and cheaper to write than decimal.
void append_digits(std::string& out, std::uint64_t value, std::size_t count) {
  for (std::size_t digit = count; digit-- > 0;) {
    out += static_cast<char>('0' + ((value >> (6 * digit)) & 63));
  }
}

std::optional<std::uint64_t> read_digits(std::string_view bytes) {
  std::uint64_t value = 0;
  unsigned outside = 0;
  for (const char c : bytes) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    outside |= digit & ~63U;
    value = value << 6 | (digit & 63);
  }
  if (outside != 0) return std::nullopt;
  return value;
}

}  // namespace

message_format::message_format(std::size_t size) : size_(size) {
  for (std::size_t i = 0; i < size + letters; ++i) {
    alphabet_ += static_cast<char>('a' + i % letters);
  }
}

std::string_view message_format::filler_of(std::uint64_t sequence) const {
  return std::string_view(alphabet_).substr(sequence % letters, size_ - header_size - 1);
}

void message_format::append(std::string& out, const message& value) const {
  out += static_cast<char>(value.kind);
  append_digits(out, value.sequence, sequence_digits);
  append_digits(out, value.stamp_ns, stamp_digits);
  out += filler_of(value.sequence);
  out += '\n';
}

std::optional<message> message_format::read(std::string_view bytes) const {
  if (bytes.size() != size_ || bytes.back() != '\n') return std::nullopt;
  const auto kind = static_cast<message_kind>(bytes.front());
  if (kind != message_kind::probe && kind != message_kind::data) return std::nullopt;
  const auto sequence = read_digits(bytes.substr(1, sequence_digits));
  const auto stamp = read_digits(bytes.substr(1 + sequence_digits, stamp_digits));
  if (!sequence || !stamp) return std::nullopt;
  if (bytes.substr(header_size, size_ - header_size - 1) != filler_of(*sequence)) {
    return std::nullopt;
  }
  return message{kind, *sequence, *stamp};
}

}  // namespace strata::bench
