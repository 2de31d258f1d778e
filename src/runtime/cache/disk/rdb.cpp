#include "runtime/cache/disk/rdb.hpp"

#include <liblzf/lzf.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/cache/values/hash_value.hpp"
#include "runtime/cache/values/list_value.hpp"
#include "runtime/cache/values/set_value.hpp"
#include "runtime/cache/values/sorted_set.hpp"
#include "runtime/cache/values/streams/stream_value.hpp"

namespace strata::runtime::cache::rdb {

namespace {

// The kinds of values.
constexpr unsigned kind_string = 0;
constexpr unsigned kind_set = 2;
constexpr unsigned kind_hash = 4;
constexpr unsigned kind_sorted_set = 5;
constexpr unsigned kind_int_set = 11;
constexpr unsigned kind_packed_hash = 16;
constexpr unsigned kind_packed_sorted_set = 17;
constexpr unsigned kind_list = 18;
constexpr unsigned kind_packed_set = 20;         // only read: of Redis 7.2
constexpr unsigned kind_timed_hash = 24;         // of Redis 7.4
constexpr unsigned kind_packed_timed_hash = 25;  // of Redis 7.4

// The forms of a list's node.
constexpr std::uint64_t node_plain = 1;
constexpr std::uint64_t node_packed = 2;

// Strings that are not stored as their bytes.
constexpr std::uint64_t special_int8 = 0;
constexpr std::uint64_t special_int16 = 1;
constexpr std::uint64_t special_int32 = 2;
constexpr std::uint64_t special_compressed = 3;

// The limit for how many times longer a compressed string can be when it is decompressed.
constexpr std::uint64_t most_expansion = 300;

using crc_table = std::array<std::array<std::uint64_t, 256>, 8>;

// Reflected polynomial of CRC-64/REDIS; eight tables, to process eight bytes at a time.
constexpr crc_table make_crc_table() {
  constexpr std::uint64_t polynomial = 0x95AC9329AC4BC9B5;
  crc_table table{};
  for (std::uint64_t i = 0; i < 256; ++i) {
    std::uint64_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = (value & 1) != 0 ? value >> 1U ^ polynomial : value >> 1U;
    table[0][i] = value;
  }
  for (std::size_t row = 1; row < 8; ++row) {
    for (std::size_t i = 0; i < 256; ++i) {
      const auto before = table[row - 1][i];
      table[row][i] = table[0][before & 0xFF] ^ before >> 8U;
    }
  }
  return table;
}
constexpr crc_table crc = make_crc_table();

sorted_set_limits limits_of(const parameters& settings) {
  return {settings.sorted_set_max_pack_entries, settings.sorted_set_max_pack_value};
}

std::string little_endian(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

}  // namespace

std::uint64_t checksum(std::string_view bytes, std::uint64_t before) {
  std::uint64_t sum = before;
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= sum;
    sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum ^= crc[7 - i][word >> (8 * i) & 0xFF];
    bytes.remove_prefix(8);
  }
  for (const char each : bytes) {
    sum = crc[0][(sum ^ static_cast<unsigned char>(each)) & 0xFF] ^ sum >> 8U;
  }
  return sum;
}

// --- writing

void writer::fixed(std::uint64_t value, unsigned bytes) { text_ += little_endian(value, bytes); }

void writer::length(std::uint64_t value) {
  if (value < 64) {
    byte(static_cast<unsigned>(value));
  } else if (value < 16384) {
    byte(0x40U | static_cast<unsigned>(value >> 8U));
    byte(static_cast<unsigned>(value & 0xFF));
  } else {
    // Long lengths are big-endian, unlike everything else.
    const bool is_wide = value > UINT32_MAX;
    byte(is_wide ? 0x81 : 0x80);
    for (unsigned i = is_wide ? 8 : 4; i-- != 0;)
      byte(static_cast<unsigned>(value >> (8 * i) & 0xFF));
  }
}

void writer::integer_string(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= INT8_MIN && value <= INT8_MAX) {
    byte(0xC0U | special_int8);
    fixed(bits, 1);
  } else if (value >= INT16_MIN && value <= INT16_MAX) {
    byte(0xC0U | special_int16);
    fixed(bits, 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    byte(0xC0U | special_int32);
    fixed(bits, 4);
  } else {
    const text::integer_text text(value);
    length(text.view().size());
    text_ += text.view();
  }
}

void writer::string(std::string_view text) {
  constexpr std::size_t longest_integer = 11;
  constexpr std::size_t worth_compressing = 20;
  if (text.size() <= longest_integer) {
    const auto number = text::parse_integer(text);
    if (number && *number >= INT32_MIN && *number <= INT32_MAX) {
      integer_string(*number);
      return;
    }
  }
  if (text.size() > worth_compressing && text.size() <= UINT32_MAX) {
    std::string packed(text.size() - 4, '\0');
    const unsigned size = ::lzf_compress(text.data(), static_cast<unsigned>(text.size()),
                                         packed.data(), static_cast<unsigned>(packed.size()));
    if (size != 0) {
      byte(0xC0U | special_compressed);
      length(size);
      length(text.size());
      text_.append(packed, 0, size);
      return;
    }
  }
  length(text.size());
  text_ += text;
}

void writer::kind(const entry& entry) {
  switch (entry.type()) {
    case value_kind::string: byte(kind_string); break;
    case value_kind::list: byte(kind_list); break;
    case value_kind::set:
      byte(entry.as<set_value>().is_integers() ? kind_int_set : kind_set);
      break;
    case value_kind::hash: {
      const auto& hash = entry.as<hash_value>();
      const bool is_timed = has_field_times(hash);
      byte(hash.is_pack() ? (is_timed ? kind_packed_timed_hash : kind_packed_hash)
                          : (is_timed ? kind_timed_hash : kind_hash));
      break;
    }
    case value_kind::sorted_set:
      byte(entry.as<sorted_set>().is_pack() ? kind_packed_sorted_set : kind_sorted_set);
      break;
    case value_kind::stream: byte(kind_stream_7); break;
  }
}

void writer::value(const entry& entry) {
  switch (entry.type()) {
    case value_kind::string: string(string_view_of(entry).view()); break;
    case value_kind::list: list(entry.as<list_value>()); break;
    case value_kind::set: set(entry.as<set_value>()); break;
    case value_kind::hash: hash(entry.as<hash_value>()); break;
    case value_kind::sorted_set: scores(entry.as<sorted_set>()); break;
    case value_kind::stream: stream(entry.as<stream_value>()); break;
  }
}

void writer::list(const list_value& value) {
  length(value.nodes().size());
  for (const auto& each : value.nodes()) {
    length(node_packed);
    string(each.dump());
  }
}

void writer::set(const set_value& value) {
  if (value.is_integers()) {
    string(value.integers().dump());
    return;
  }
  length(value.size());
  value.for_each([this](std::string_view each) { string(each); });
}

void writer::hash(const hash_value& value) {
  if (has_field_times(value)) {
    timed_hash(value);
    return;
  }
  if (value.is_pack()) {
    string(value.packed().dump());
    return;
  }
  length(value.size());
  value.for_each([this](std::string_view name, std::string_view each) {
    string(name);
    string(each);
  });
}

// From the highest score on, as in Redis: reading then inserts each before all others.
void writer::scores(const sorted_set& set) {
  if (set.is_pack()) {
    string(set.packed().dump());
    return;
  }
  length(set.size());
  set.visit({0, set.size()}, true, [this](std::string_view member, double score) {
    string(member);
    fixed(std::bit_cast<std::uint64_t>(score), 8);
  });
}

// --- reading

std::string_view reader::bytes(std::uint64_t count) {
  if (failed_ || count > left()) {
    failed_ = true;
    return {};
  }
  const auto found = text_.substr(at_, count);
  at_ += count;
  return found;
}

unsigned reader::byte() {
  const auto found = bytes(1);
  return found.empty() ? 0 : static_cast<unsigned char>(found[0]);
}

std::uint64_t reader::fixed(unsigned count) {
  std::uint64_t value = 0;
  const auto found = bytes(count);
  for (std::size_t i = found.size(); i-- != 0;) {
    value = value << 8U | static_cast<unsigned char>(found[i]);
  }
  return value;
}

reader::encoded_length reader::any_length() {
  const unsigned first = byte();
  switch (first >> 6U) {
    case 0: return {first & 0x3FU, false};
    case 1: return {(first & 0x3FU) << 8U | byte(), false};
    case 3: return {first & 0x3FU, true};
    default: break;
  }
  if (first != 0x80 && first != 0x81) failed_ = true;
  std::uint64_t value = 0;
  for (const char each : bytes(first == 0x81 ? 8 : 4)) {
    value = value << 8U | static_cast<unsigned char>(each);
  }
  return {value, false};
}

std::uint64_t reader::length() {
  const auto read = any_length();
  if (read.is_special) failed_ = true;
  return failed_ ? 0 : read.value;
}

std::string reader::string() {
  const auto size = any_length();
  if (size.is_special) return special_string(size.value);
  return std::string(bytes(size.value));
}

std::string reader::special_string(std::uint64_t how) {
  switch (how) {
    case special_int8: return std::to_string(static_cast<std::int8_t>(fixed(1)));
    case special_int16: return std::to_string(static_cast<std::int16_t>(fixed(2)));
    case special_int32: return std::to_string(static_cast<std::int32_t>(fixed(4)));
    case special_compressed: return compressed_string();
    default: failed_ = true; return {};
  }
}

std::string reader::compressed_string() {
  const auto packed_size = length();
  const auto size = length();
  const auto packed = bytes(packed_size);
  if (failed_ || size > packed.size() * most_expansion || size > UINT32_MAX || size == 0) {
    failed_ = true;
    return {};
  }
  std::string text(size, '\0');
  if (::lzf_decompress(packed.data(), static_cast<unsigned>(packed.size()), text.data(),
                       static_cast<unsigned>(size)) != size) {
    failed_ = true;
  }
  return text;
}

std::unique_ptr<collection> reader::fail() {
  failed_ = true;
  return nullptr;
}

std::unique_ptr<collection> reader::read_list() {
  auto made = std::make_unique<list_value>();
  for (auto nodes = length(); nodes != 0 && !failed_; --nodes) {
    const auto how = length();
    const auto text = string();
    if (failed_) break;
    if (how == node_plain) {
      pack alone;
      alone.push_back(text);
      made->append(std::move(alone));
      continue;
    }
    auto loaded = how == node_packed ? pack::load(text) : std::nullopt;
    if (!loaded) return fail();
    if (!loaded->empty()) made->append(std::move(*loaded));
  }
  return made;
}

std::unique_ptr<collection> reader::read_set(const parameters& settings) {
  auto made = std::make_unique<set_value>();
  for (auto count = length(); count != 0 && !failed_; --count) {
    const auto member = string();
    if (!failed_ && !made->insert(member, settings.set_max_integers)) return fail();
  }
  return made;
}

std::unique_ptr<collection> reader::read_int_set() {
  auto loaded = int_set::load(string());
  if (!loaded || failed_) return fail();
  return std::make_unique<set_value>(std::move(*loaded));
}

std::unique_ptr<collection> reader::read_hash(const parameters& settings) {
  auto made = std::make_unique<hash_value>();
  const hash_limits limits{settings.hash_max_pack_entries, settings.hash_max_pack_value};
  for (auto count = length(); count != 0 && !failed_; --count) {
    const auto name = string();
    const auto text = string();
    const std::array<std::string_view, 2> texts = {name, text};
    made->fit(texts, limits);
    if (!failed_ && !made->set(name, text, limits)) return fail();
  }
  return made;
}

// A pack from elsewhere may contain a field twice, which ours never does.
std::unique_ptr<collection> reader::read_packed_hash(const parameters& settings) {
  const auto loaded = pack::load(string());
  if (!loaded || failed_ || loaded->size() % 2 != 0) return fail();
  auto made = std::make_unique<hash_value>();
  const hash_limits limits{settings.hash_max_pack_entries, settings.hash_max_pack_value};
  for (auto at = loaded->first(); at != pack::none;) {
    const auto value_at = loaded->next(at);
    const auto name = loaded->at(at);
    const auto text = loaded->at(value_at);
    const std::array<std::string_view, 2> texts = {name.text(), text.text()};
    made->fit(texts, limits);
    if (!made->set(texts[0], texts[1], limits)) return fail();
    at = loaded->next(value_at);
  }
  return made;
}

// A pack would turn scores of -0 into 0, so it is large until it is whole.
std::unique_ptr<collection> reader::read_sorted_set(const parameters& settings) {
  auto made = std::make_unique<sorted_set>(member_table());
  for (auto count = length(); count != 0 && !failed_; --count) {
    const auto member = string();
    const auto score = std::bit_cast<double>(fixed(8));
    if (failed_ || std::isnan(score) || made->score_of(member)) return fail();
    made->add(member, score, limits_of(settings));
  }
  made->fit(limits_of(settings));
  return made;
}

// A pack from elsewhere may be out of order, or contain a member twice: it is rebuilt.
std::unique_ptr<collection> reader::read_packed_sorted_set(const parameters& settings) {
  const auto loaded = pack::load(string());
  if (!loaded || failed_ || loaded->size() % 2 != 0) return fail();
  auto made = std::make_unique<sorted_set>();
  for (auto at = loaded->first(); at != pack::none;) {
    const auto score_at = loaded->next(at);
    const auto member = loaded->at(at);
    const auto score = text::parse_real(loaded->at(score_at).text());
    if (!score || made->score_of(member.text())) return fail();
    made->add(member.text(), *score, limits_of(settings));
    at = loaded->next(score_at);
  }
  return made;
}

entry* reader::value(unsigned kind, std::string_view key, std::int64_t expires_at_ms,
                     const parameters& settings) {
  std::unique_ptr<collection> made;
  switch (kind) {
    case kind_string: {
      const auto text = string();
      return failed_ ? nullptr : entry::make_text(key, text, expires_at_ms);
    }
    case kind_list: made = read_list(); break;
    case kind_set: made = read_set(settings); break;
    case kind_int_set: made = read_int_set(); break;
    case kind_hash: made = read_hash(settings); break;
    case kind_packed_hash: made = read_packed_hash(settings); break;
    case kind_timed_hash: made = read_timed_hash(settings); break;
    case kind_packed_timed_hash: made = read_packed_timed_hash(settings); break;
    case kind_packed_set: made = read_packed_set(settings); break;
    case kind_sorted_set: made = read_sorted_set(settings); break;
    case kind_packed_sorted_set: made = read_packed_sorted_set(settings); break;
    case kind_stream_5:
    case kind_stream_7:
    case kind_stream_7_2: made = read_stream(kind); break;
    default: failed_ = true; break;
  }
  const bool may_be_empty = made != nullptr && made->type() == value_kind::stream;
  if (failed_ || made == nullptr || (made->size() == 0 && !may_be_empty)) {
    failed_ = true;
    return nullptr;
  }
  return entry::make(key, std::move(made), expires_at_ms);
}

}  // namespace strata::runtime::cache::rdb
