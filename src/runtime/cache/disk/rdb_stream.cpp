// Streams in Redis's snapshot format. A snapshot may come from anywhere: every relation between the
// parts of a stream is checked before it becomes a value.
#include <cstring>
#include <utility>

#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/values/streams/stream_value.hpp"

namespace strata::runtime::cache::rdb {

namespace {

constexpr std::size_t raw_id_size = 16;

}  // namespace

// --- writing

// Unlike other numbers, the parts of an id that is a key are big-endian.
void writer::raw_id(const stream_id& id) {
  for (const auto part : {id.ms, id.sequence}) {
    for (unsigned i = 8; i-- != 0;) byte(static_cast<unsigned>(part >> (8 * i) & 0xFF));
  }
}

void writer::id(const stream_id& id) {
  length(id.ms);
  length(id.sequence);
}

void writer::stream(const stream_value& stream) {
  length(stream.blocks().size());
  for (const auto& [first, block] : stream.blocks()) {
    length(raw_id_size);
    raw_id(first);
    string(block.dump());
  }
  length(stream.size());
  id(stream.last_id);
  id(stream.first_id);
  id(stream.max_deleted_id);
  length(stream.entries_added);
  length(stream.groups().size());
  for (const auto& [name, each] : stream.groups()) group(name, each);
}

void writer::group(std::string_view name, const stream_group& group) {
  string(name);
  id(group.last_id);
  length(static_cast<std::uint64_t>(group.entries_read));
  length(group.pending().size());
  for (const auto& [pending_id, entry] : group.pending()) {
    raw_id(pending_id);
    fixed(static_cast<std::uint64_t>(entry.delivered_ms), 8);
    length(entry.deliveries);
  }
  length(group.consumers().size());
  for (const auto& [consumer_name, consumer] : group.consumers()) {
    string(consumer_name);
    fixed(static_cast<std::uint64_t>(consumer.seen_ms), 8);
    length(consumer.pending.size());
    for (const auto& each : consumer.pending) raw_id(each);
  }
}

// --- reading

stream_id reader::read_raw_id(std::string_view bytes) {
  stream_id id;
  if (bytes.size() != raw_id_size) {
    failed_ = true;
    return id;
  }
  for (std::size_t i = 0; i < raw_id_size; ++i) {
    auto& part = i < raw_id_size / 2 ? id.ms : id.sequence;
    part = part << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return id;
}

stream_id reader::read_id() {
  const auto ms = length();
  return {ms, length()};
}

bool reader::read_blocks(stream_value& stream) {
  for (auto blocks = length(); blocks != 0 && !failed_; --blocks) {
    const auto first = read_raw_id(string());
    const auto dumped = string();
    if (failed_) return false;
    auto block = stream_block::load(first, dumped);
    if (!block || !stream.add_block(first, std::move(*block))) return false;
  }
  return !failed_;
}

bool reader::read_pending(stream_group& group) {
  for (auto left = length(); left != 0 && !failed_; --left) {
    const auto id = read_raw_id(bytes(raw_id_size));
    const auto delivered_ms = static_cast<std::int64_t>(fixed(8));
    const auto deliveries = length();
    if (failed_ || group.pending().contains(id)) return false;
    (void)group.add_pending(id, {nullptr, delivered_ms, deliveries});
  }
  return !failed_;
}

bool reader::read_consumer(stream_group& group, unsigned kind) {
  const auto name = string();
  const auto seen_ms = static_cast<std::int64_t>(fixed(8));
  if (kind == kind_stream_7_2) (void)fixed(8);
  if (failed_ || group.find_consumer(name) != nullptr) return false;
  auto& consumer = group.add_consumer(name, seen_ms);
  for (auto left = length(); left != 0 && !failed_; --left) {
    const auto place = group.pending().find(read_raw_id(bytes(raw_id_size)));
    if (failed_ || place == group.pending().end() || place->second.consumer != nullptr) {
      return false;
    }
    group.assign(place, consumer);
  }
  return !failed_;
}

bool reader::read_group(stream_value& stream, unsigned kind) {
  const auto name = string();
  const auto last = read_id();
  const auto read =
      kind == kind_stream_5 ? stream.entries_up_to(last) : static_cast<std::int64_t>(length());
  if (failed_) return false;
  auto* const group = stream.add_group(name, last, read);
  if (group == nullptr || !read_pending(*group)) return false;
  for (auto consumers = length(); consumers != 0 && !failed_; --consumers) {
    if (!read_consumer(*group, kind)) return false;
  }
  for (const auto& [id, entry] : group->pending()) {
    if (entry.consumer == nullptr) return false;
  }
  return !failed_;
}

std::unique_ptr<collection> reader::read_stream(unsigned kind) {
  auto made = std::make_unique<stream_value>();
  auto& stream = *made;
  if (!read_blocks(stream) || length() != stream.size()) return fail();
  stream.last_id = stream.announced_id = read_id();
  stream.first_id = stream.end_id(true).value_or(stream_id::lowest());
  if (kind == kind_stream_5) {
    stream.entries_added = stream.size();
  } else {
    (void)read_id();  // the first id, which follows from the blocks
    stream.max_deleted_id = read_id();
    stream.entries_added = length();
  }
  if (failed_ || stream.end_id(false) > stream.last_id) return fail();
  for (auto groups = length(); groups != 0 && !failed_; --groups) {
    if (!read_group(stream, kind)) return fail();
  }
  return made;
}

}  // namespace strata::runtime::cache::rdb
