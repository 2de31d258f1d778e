#include "runtime/cache/values/set_value.hpp"

namespace strata::runtime::cache {

set_value::set_value(const set_value& other) : collection(other) {
  if (other.is_integers()) {
    members_ = other.integers();
    return;
  }
  members_ = std::make_unique<table>();
  auto& copies = tabled();
  other.for_each(
      [&](std::string_view each) { copies.insert(text_item::make(each), hash_of(each)); });
}

set_value::~set_value() {
  if (is_integers()) return;
  tabled().for_each([](text_item* each) { text_item::destroy(each); });
}

bool set_value::shed(std::size_t steps) {
  return !is_integers() && tabled().drain(steps, [](text_item* each) { text_item::destroy(each); });
}

void set_value::make_table() {
  auto made = std::make_unique<table>();
  for_each([&](std::string_view each) { made->insert(text_item::make(each), hash_of(each)); });
  members_ = std::move(made);
}

bool set_value::insert(std::string_view member, std::int64_t most_integers) {
  if (is_integers()) {
    auto& all = std::get<int_set>(members_);
    if (const auto number = text::parse_integer(member)) {
      if (!all.insert(*number)) return false;
      if (static_cast<std::int64_t>(all.size()) > most_integers) make_table();
      return true;
    }
    make_table();
  }
  auto& all = tabled();
  const auto hash = hash_of(member);
  if (all.find(member, hash) != nullptr) return false;
  all.insert(text_item::make(member), hash);
  return true;
}

bool set_value::erase(std::string_view member) {
  if (is_integers()) {
    const auto number = text::parse_integer(member);
    return number && std::get<int_set>(members_).erase(*number);
  }
  auto& all = tabled();
  const auto hash = hash_of(member);
  auto** const place = all.find(member, hash);
  if (place == nullptr) return false;
  text_item::destroy(all.erase(place, hash));
  return true;
}

bool set_value::contains(std::string_view member) const {
  if (is_integers()) {
    const auto number = text::parse_integer(member);
    return number && integers().contains(*number);
  }
  return tabled().find(member) != nullptr;
}

std::size_t set_value::size() const { return is_integers() ? integers().size() : tabled().size(); }

std::size_t set_value::memory() const {
  std::size_t bytes = allocation_size(sizeof *this);
  if (is_integers()) return bytes + integers().memory();
  const auto& all = tabled();
  bytes += allocation_size(sizeof all) + all.memory();
  all.for_each([&](const text_item* each) { bytes += each->memory(); });
  return bytes;
}

}  // namespace strata::runtime::cache
