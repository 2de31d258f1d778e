#include "runtime/cache/values/int_set.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

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

}  // namespace

int_set::int_set(const int_set& other)
    : capacity_(other.capacity_), count_(other.count_), width_(other.width_) {
  if (other.memory_ == nullptr) return;
  memory_ = static_cast<unsigned char*>(allocate(capacity_));
  std::memcpy(memory_, other.memory_, header_size + std::size_t{count_} * width_);
}

int_set::~int_set() { release(memory_, capacity_); }

void int_set::swap(int_set& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(capacity_, other.capacity_);
  std::swap(count_, other.count_);
  std::swap(width_, other.width_);
}

std::int64_t int_set::operator[](std::size_t index) const {
  return read(memory_ + header_size + index * width_, width_);
}

void int_set::set(std::size_t index, std::int64_t value) {
  std::memcpy(memory_ + header_size + index * width_, &value, width_);
}

int_set::position int_set::search(std::int64_t value) const {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const auto middle = (low + high) / 2;
    if ((*this)[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {low, low < count_ && (*this)[low] == value};
}

void int_set::write_header() {
  std::memcpy(memory_, &width_, 4);
  std::memcpy(memory_ + 4, &count_, 4);
}

// Ensures that there is room for `count` integers, and not much more.
void int_set::resize(std::size_t count) {
  const auto wanted = header_size + count * width_;
  if (wanted <= capacity_ && wanted * 2 > capacity_) return;
  const auto room = allocation_size(wanted + wanted / 8);
  memory_ = static_cast<unsigned char*>(reallocate(memory_, capacity_, room));
  capacity_ = static_cast<std::uint32_t>(room);
}

void int_set::widen(unsigned width) {
  int_set wider;
  wider.width_ = width;
  wider.resize(count_ + 1);
  for (std::size_t i = 0; i < count_; ++i) wider.set(i, (*this)[i]);
  wider.count_ = count_;
  swap(wider);
}

bool int_set::insert(std::int64_t value) {
  if (width_for(value) > width_) widen(width_for(value));
  const auto where = search(value);
  if (where.found) return false;
  resize(count_ + 1);
  auto* const at = memory_ + header_size + where.index * width_;
  std::memmove(at + width_, at, (count_ - where.index) * width_);
  ++count_;
  set(where.index, value);
  write_header();
  return true;
}

bool int_set::erase(std::int64_t value) {
  if (width_for(value) > width_) return false;
  const auto where = search(value);
  if (!where.found) return false;
  auto* const at = memory_ + header_size + where.index * width_;
  --count_;
  std::memmove(at, at + width_, (count_ - where.index) * width_);
  resize(count_);
  write_header();
  return true;
}

std::string_view int_set::dump() const {
  if (memory_ == nullptr) return {"\2\0\0\0\0\0\0\0", header_size};
  return {reinterpret_cast<const char*>(memory_), header_size + std::size_t{count_} * width_};
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
  made.width_ = width;
  made.resize(count);
  std::memcpy(made.memory_, dumped.data(), dumped.size());
  made.count_ = count;
  for (std::size_t i = 1; i < count; ++i) {
    if (made[i - 1] >= made[i]) return {};
  }
  return made;
}

}  // namespace strata::runtime::cache
