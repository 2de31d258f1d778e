#include "runtime/cache/values/int_set.hpp"

#include <cstring>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::size_t header_size = 8;

unsigned width_for(std::int64_t value) {
  if (value >= INT16_MIN && value <= INT16_MAX) return 2;
  return value >= INT32_MIN && value <= INT32_MAX ? 4 : 8;
}

std::int64_t read(const unsigned char* bytes, unsigned width) {
  std::int64_t value = 0;
  std::memcpy(&value, bytes, width);
  const unsigned unused = 64 - 8 * width;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

std::size_t block_size(std::size_t count, unsigned width) {
  return allocation_size(header_size + count * width);
}

}  // namespace

int_set::int_set(const int_set& other) {
  if (other.memory_ == nullptr) return;
  resize(other.size(), other.width());
  const auto copied = other.dump();
  std::memcpy(memory_, copied.data(), copied.size());
}

int_set::~int_set() { release(memory_, memory_ == nullptr ? 0 : block_size(size(), width())); }

std::uint32_t int_set::header(std::size_t offset) const {
  std::uint32_t value = 0;
  std::memcpy(&value, memory_ + offset, sizeof value);
  return value;
}

std::size_t int_set::memory() const {
  return memory_ == nullptr ? 0 : allocation_size(block_size(size(), width()));
}

std::int64_t int_set::operator[](std::size_t index) const {
  const auto bytes = width();
  return read(memory_ + header_size + index * bytes, bytes);
}

void int_set::set(std::size_t index, std::int64_t value) {
  const auto bytes = width();
  std::memcpy(memory_ + header_size + index * bytes, &value, bytes);
}

int_set::position int_set::search(std::int64_t value) const {
  const auto count = size();
  std::size_t low = 0;
  std::size_t high = count;
  while (low < high) {
    const auto middle = (low + high) / 2;
    if ((*this)[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {low, low < count && (*this)[low] == value};
}

// Keeps the integers that fit, and writes the header.
void int_set::resize(std::size_t count, unsigned width) {
  const auto before = memory_ == nullptr ? 0 : block_size(size(), this->width());
  const auto wanted = block_size(count, width);
  if (memory_ == nullptr || wanted != before) {
    memory_ = static_cast<unsigned char*>(reallocate(memory_, before, wanted));
  }
  const auto counted = static_cast<std::uint32_t>(count);
  std::memcpy(memory_, &width, 4);
  std::memcpy(memory_ + 4, &counted, 4);
}

void int_set::widen(unsigned width) {
  const auto count = size();
  int_set wider;
  wider.resize(count, width);
  for (std::size_t i = 0; i < count; ++i) wider.set(i, (*this)[i]);
  swap(wider);
}

bool int_set::insert(std::int64_t value) {
  if (width_for(value) > width()) widen(width_for(value));
  const auto where = search(value);
  if (where.found) return false;
  const auto count = size();
  const auto bytes = width();
  resize(count + 1, bytes);
  auto* const at = memory_ + header_size + where.index * bytes;
  std::memmove(at + bytes, at, (count - where.index) * bytes);
  set(where.index, value);
  return true;
}

bool int_set::erase(std::int64_t value) {
  const auto bytes = width();
  if (width_for(value) > bytes) return false;
  const auto where = search(value);
  if (!where.found) return false;
  auto* const at = memory_ + header_size + where.index * bytes;
  const auto left = size() - 1;
  std::memmove(at, at + bytes, (left - where.index) * bytes);
  resize(left, bytes);
  return true;
}

std::string_view int_set::dump() const {
  if (memory_ == nullptr) return {"\2\0\0\0\0\0\0\0", header_size};
  return {reinterpret_cast<const char*>(memory_), header_size + size() * width()};
}

std::optional<int_set> int_set::load(std::string_view dumped) {
  std::uint32_t width = 0;
  std::uint32_t count = 0;
  if (dumped.size() < header_size) return {};
  std::memcpy(&width, dumped.data(), 4);
  std::memcpy(&count, dumped.data() + 4, 4);
  if (width != 2 && width != 4 && width != 8) return {};
  if (dumped.size() != header_size + std::uint64_t{count} * width) return {};
  int_set made;
  made.resize(count, width);
  std::memcpy(made.memory_, dumped.data(), dumped.size());
  for (std::size_t i = 1; i < count; ++i) {
    if (made[i - 1] >= made[i]) return {};
  }
  return made;
}

}  // namespace strata::runtime::cache
