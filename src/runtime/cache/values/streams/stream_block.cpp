#include "runtime/cache/values/streams/stream_block.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::int64_t deleted_flag = 1;
constexpr std::int64_t first_names_flag = 2;
// The elements of an entry beside its fields: flags, and the two parts of its id.
constexpr std::uint64_t id_elements = 3;

}  // namespace

stream_block::stream_block(stream_id first, std::span<const std::string_view> words)
    : first_(first), first_fields_(static_cast<std::uint32_t>(words.size() / 2)) {
  push(0);
  push(0);
  push(words.size() / 2);
  for (std::size_t i = 0; i < words.size(); i += 2) elements_.push_back(words[i]);
  push(0);
}

void stream_block::push(std::uint64_t value) {
  elements_.push_back(text::integer_text(static_cast<std::int64_t>(value)).view());
}

std::uint64_t stream_block::header(std::size_t index) const {
  const auto at = skip(elements_.first(), index);
  return static_cast<std::uint64_t>(elements_.integer_at(at).value_or(0));
}

void stream_block::add_to_header(std::size_t index, std::int64_t change) {
  const auto value = static_cast<std::int64_t>(header(index)) + change;
  elements_.replace(skip(elements_.first(), index), text::integer_text(value).view());
}

pack::offset stream_block::skip(pack::offset offset, std::uint64_t count) const {
  for (; count != 0 && offset != pack::none; --count) offset = elements_.next(offset);
  return offset;
}

bool stream_block::has_names(std::span<const std::string_view> words) const {
  if (first_fields_ * std::size_t{2} != words.size()) return false;
  auto at = first_name();
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (!elements_.equals(at, words[i])) return false;
    at = elements_.next(at);
  }
  return true;
}

void stream_block::append(stream_id id, std::span<const std::string_view> words) {
  const bool same_names = has_names(words);
  const std::uint64_t fields = words.size() / 2;
  push(static_cast<std::uint64_t>(same_names ? first_names_flag : 0));
  push(id.ms - first_.ms);
  push(id.sequence - first_.sequence);
  if (!same_names) push(fields);
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (!same_names) elements_.push_back(words[i]);
    elements_.push_back(words[i + 1]);
  }
  push(id_elements + (same_names ? fields : fields * 2 + 1));
  const auto bytes = elements_.bytes();
  add_to_header(0, 1);
  if (elements_.bytes() != bytes) remembered_ = pack::none;
}

stream_entry stream_block::erase(const stream_entry& entry) {
  remembered_ = pack::none;
  const auto flags = (entry.has_first_names ? first_names_flag : 0) | deleted_flag;
  elements_.replace(entry.at, text::integer_text(flags).view());
  const auto distance = entry.at - elements_.first();
  const auto bytes = elements_.bytes();
  add_to_header(0, -1);
  add_to_header(1, 1);
  // The numbers in the head may have become longer or shorter.
  return read(static_cast<pack::offset>(elements_.first() + distance + elements_.bytes() - bytes));
}

stream_entry stream_block::read(pack::offset offset) const {
  const auto integer = [this](pack::offset place) {
    return elements_.integer_at(place).value_or(0);
  };
  stream_entry found{.block = this, .id = first_, .at = offset};
  const auto flags = integer(offset);
  found.is_deleted = (flags & deleted_flag) != 0;
  found.has_first_names = (flags & first_names_flag) != 0;
  offset = elements_.next(offset);
  found.id.ms += static_cast<std::uint64_t>(integer(offset));
  offset = elements_.next(offset);
  found.id.sequence += static_cast<std::uint64_t>(integer(offset));
  offset = elements_.next(offset);
  if (found.has_first_names) {
    found.fields = first_fields_;
  } else {
    found.fields = static_cast<std::uint64_t>(integer(offset));
    offset = elements_.next(offset);
  }
  found.body = offset;
  return found;
}

std::optional<stream_entry> stream_block::first() const {
  // Behind the names and the 0.
  const auto at = skip(first_name(), std::uint64_t{first_fields_} + 1);
  if (at == pack::none) return {};
  return read(at);
}

std::optional<stream_entry> stream_block::next(const stream_entry& entry) const {
  const auto elements = entry.has_first_names ? entry.fields : entry.fields * 2;
  const auto at = skip(entry.body, elements + 1);
  if (at == pack::none) return {};
  return read(at);
}

std::optional<stream_entry> stream_block::last() const {
  auto at = elements_.last();
  auto back = elements_.integer_at(at).value_or(0);
  if (back == 0) return {};
  for (; back != 0; --back) at = elements_.previous(at);
  return read(at);
}

std::optional<stream_entry> stream_block::previous(const stream_entry& entry) const {
  auto at = elements_.previous(entry.at);
  auto back = elements_.integer_at(at).value_or(0);
  if (back == 0) return {};
  for (; back != 0; --back) at = elements_.previous(at);
  return read(at);
}

std::optional<stream_entry> stream_block::last_present() const {
  auto entry = last();
  while (entry && entry->is_deleted) entry = previous(*entry);
  return entry;
}

std::optional<stream_entry> stream_block::search_start(stream_id id) const {
  if (remembered_ != pack::none) {
    auto entry = read(elements_.first() + remembered_);
    if (entry.id <= id) return entry;
  }
  return first();
}

std::optional<stream_entry> stream_block::find(stream_id id) const {
  for (auto entry = search_start(id); entry; entry = next(*entry)) {
    if (entry->is_deleted || entry->id < id) continue;
    if (entry->id != id) break;
    remember(*entry);
    return entry;
  }
  return {};
}

// --- loading

std::optional<stream_block> stream_block::load(stream_id first, std::string_view dumped) {
  auto elements = pack::load(dumped);
  if (!elements) return {};
  stream_block made(first);
  made.elements_ = std::move(*elements);
  if (!made.is_valid()) return {};
  made.first_fields_ = static_cast<std::uint32_t>(made.header(2));
  return made;
}

bool stream_block::is_valid() const {
  auto at = elements_.first();
  std::uint64_t numbers[3] = {};
  for (auto& each : numbers) {
    const auto value = at == pack::none ? std::nullopt : elements_.integer_at(at);
    if (!value || *value < 0) return false;
    each = static_cast<std::uint64_t>(*value);
    at = elements_.next(at);
  }
  if (numbers[2] >= elements_.size()) return false;
  at = skip(at, numbers[2]);
  if (at == pack::none || elements_.integer_at(at) != 0) return false;
  at = elements_.next(at);
  stream_id least = first_;
  std::uint64_t seen[2] = {};
  while (at != pack::none) {
    const bool is_deleted = (elements_.integer_at(at).value_or(0) & deleted_flag) != 0;
    const auto following = checked_entry(at, least);
    if (!following) return false;
    ++seen[is_deleted ? 1 : 0];
    at = *following;
  }
  return seen[0] == numbers[0] && seen[1] == numbers[1] && seen[0] + seen[1] != 0;
}

// Checks the entry at `offset`, and returns where the next one is, or `none`. `least` is the least
// id that it may have, and becomes that of the next one.
std::optional<pack::offset> stream_block::checked_entry(pack::offset offset,
                                                        stream_id& least) const {
  std::int64_t numbers[3] = {};
  for (auto& each : numbers) {
    const auto value = offset == pack::none ? std::nullopt : elements_.integer_at(offset);
    if (!value) return {};
    each = *value;
    offset = elements_.next(offset);
  }
  if ((numbers[0] & ~(deleted_flag | first_names_flag)) != 0) return {};
  const stream_id id{first_.ms + static_cast<std::uint64_t>(numbers[1]),
                     first_.sequence + static_cast<std::uint64_t>(numbers[2])};
  if ((numbers[0] & deleted_flag) == 0) {
    if (id < least) return {};
    least = id.next().value_or(id);
  }
  std::uint64_t body = header(2);
  std::uint64_t elements = id_elements + body;
  if ((numbers[0] & first_names_flag) == 0) {
    const auto fields = offset == pack::none ? std::nullopt : elements_.integer_at(offset);
    if (!fields || *fields < 0 || static_cast<std::uint64_t>(*fields) > elements_.size()) return {};
    body = static_cast<std::uint64_t>(*fields) * 2;
    elements = id_elements + 1 + body;
    offset = elements_.next(offset);
  }
  offset = skip(offset, body);
  if (offset == pack::none || elements_.integer_at(offset) != static_cast<std::int64_t>(elements)) {
    return {};
  }
  return elements_.next(offset);
}

}  // namespace strata::runtime::cache
