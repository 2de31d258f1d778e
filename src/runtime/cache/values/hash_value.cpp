#include "runtime/cache/values/hash_value.hpp"

#include <cstring>
#include <new>

namespace strata::runtime::cache {

hash_field* hash_field::make(std::string_view name, std::string_view value) {
  const auto fixed = sizeof(hash_field) + name.size();
  const auto whole = allocation_size(fixed + value.size());
  auto* const made = new (allocate(whole)) hash_field;
  made->name_size_ = static_cast<std::uint32_t>(name.size());
  made->capacity_ = static_cast<std::uint32_t>(whole - fixed);
  copy_text(made + 1, name);
  (void)made->assign(value);
  return made;
}

void hash_field::destroy(hash_field* field) { release(field, field->block_size()); }

bool hash_field::assign(std::string_view value) {
  if (value.size() > capacity_) return false;
  // A block much too large for its value is freed.
  constexpr std::size_t small_block = 256;
  if (capacity_ > small_block && value.size() < capacity_ / 4) return false;
  value_size_ = static_cast<std::uint32_t>(value.size());
  copy_text(reinterpret_cast<char*>(this + 1) + name_size_, value);
  return true;
}

hash_value::hash_value(const hash_value& other) : collection(other) {
  if (other.times_ != nullptr) times_ = std::make_unique<field_times>(*other.times_);
  if (other.is_pack()) {
    fields_ = other.packed();
    return;
  }
  fields_ = std::make_unique<table>();
  auto& copies = tabled();
  other.for_each([&](std::string_view name, std::string_view value) {
    copies.insert(hash_field::make(name, value), hash_of(name));
  });
}

hash_value::~hash_value() {
  if (is_pack()) return;
  tabled().for_each([](hash_field* each) { hash_field::destroy(each); });
}

bool hash_value::shed(std::size_t steps) {
  if (times_ != nullptr) {
    if (!times_->shed(steps)) times_.reset();
    return true;
  }
  return !is_pack() && tabled().drain(steps, [](hash_field* each) { hash_field::destroy(each); });
}

void hash_value::make_table() {
  auto made = std::make_unique<table>();
  for_each([&](std::string_view name, std::string_view value) {
    made->insert(hash_field::make(name, value), hash_of(name));
  });
  fields_ = std::move(made);
}

void hash_value::fit(std::span<const std::string_view> texts, const hash_limits& limits) {
  if (!is_pack()) return;
  for (const auto& each : texts) {
    if (static_cast<std::int64_t>(each.size()) > limits.value) {
      make_table();
      return;
    }
  }
}

bool hash_value::set_packed(std::string_view name, std::string_view value) {
  auto& fields = std::get<pack>(fields_);
  const auto at = fields.find(name, fields.first(), 2);
  if (at == pack::none) {
    fields.push_back(name);
    fields.push_back(value);
    return true;
  }
  fields.replace(fields.next(at), value);
  return false;
}

void hash_value::set_expiry(std::string_view name, std::int64_t at_ms) {
  if (times_ == nullptr) times_ = std::make_unique<field_times>();
  times_->set(name, at_ms);
}

bool hash_value::persist(std::string_view name) {
  if (times_ == nullptr || !times_->erase(name)) return false;
  if (times_->size() == 0) times_.reset();
  return true;
}

bool hash_value::set(std::string_view name, std::string_view value, const hash_limits& limits) {
  if (times_ != nullptr) persist(name);
  if (is_pack()) {
    const bool is_new = set_packed(name, value);
    if (is_new && static_cast<std::int64_t>(size()) > limits.entries) make_table();
    return is_new;
  }
  auto& fields = tabled();
  const auto hash = hash_of(name);
  auto** const place = fields.find(name, hash);
  if (place == nullptr) {
    fields.insert(hash_field::make(name, value), hash);
    return true;
  }
  if (!(*place)->assign(value)) {
    hash_field* const old = *place;
    *place = hash_field::make(name, value);
    hash_field::destroy(old);
  }
  return false;
}

bool hash_value::erase(std::string_view name) {
  if (times_ != nullptr) persist(name);
  if (auto* const fields = std::get_if<pack>(&fields_)) {
    const auto at = fields->find(name, fields->first(), 2);
    if (at == pack::none) return false;
    fields->erase(at, 2);
    return true;
  }
  auto& fields = tabled();
  const auto hash = hash_of(name);
  auto** const place = fields.find(name, hash);
  if (place == nullptr) return false;
  hash_field::destroy(fields.erase(place, hash));
  return true;
}

bool hash_value::contains(std::string_view name) const {
  return with_value(name, [](std::string_view) {});
}

std::size_t hash_value::size() const { return is_pack() ? packed().size() / 2 : tabled().size(); }

std::size_t hash_value::memory() const {
  const auto fixed = allocation_size(sizeof *this) + (times_ == nullptr ? 0 : times_->memory());
  if (is_pack()) return fixed + packed().memory();
  const auto& fields = tabled();
  std::size_t bytes = fixed + allocation_size(sizeof fields) + fields.memory();
  fields.for_each([&](const hash_field* each) { bytes += each->memory(); });
  return bytes;
}

}  // namespace strata::runtime::cache
