#include "runtime/cache/engine/digest.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>

#include "runtime/cache/engine/keyspace.hpp"
#include "runtime/cache/values/hash_value.hpp"
#include "runtime/cache/values/list_value.hpp"
#include "runtime/cache/values/set_value.hpp"
#include "runtime/cache/values/sorted_set.hpp"
#include "runtime/cache/values/streams/stream_value.hpp"

namespace strata::runtime::cache {

namespace {

// Joins two texts unambiguously, so that texts split elsewhere differ.
std::string joined(std::string_view first, std::string_view second) {
  return fmt::format("{}:{}{}", first.size(), first, second);
}

}  // namespace

void digest::add(std::string_view bytes) {
  const auto sum = XXH3_128bits(bytes.data(), bytes.size());
  high_ ^= sum.high64;
  low_ ^= sum.low64;
}

void digest::append(std::string_view bytes) {
  const auto sum = XXH3_128bits_withSeed(bytes.data(), bytes.size(), low_ ^ std::rotl(high_, 32));
  high_ = sum.high64;
  low_ = sum.low64;
}

void digest::add_value(const entry& entry) {
  switch (entry.type()) {
    case value_kind::string: append(string_view_of(entry).view()); break;
    case value_kind::list:
      for (const auto& node : entry.as<list_value>().nodes()) {
        for (auto at = node.first(); at != pack::none; at = node.next(at)) {
          append(node.at(at).text());
        }
      }
      break;
    case value_kind::set:
      entry.as<set_value>().for_each([this](std::string_view each) { add(each); });
      break;
    case value_kind::hash: {
      const auto& hash = entry.as<hash_value>();
      hash.for_each([this, &hash](std::string_view name, std::string_view value) {
        const std::string_view end = hash.expiry_of(name) ? "expires" : "";
        add(joined(joined(name, value), end));
      });
      break;
    }
    case value_kind::sorted_set:
      entry.as<sorted_set>().for_each([this](std::string_view member, double score) {
        // 0 and -0 are the same score.
        add(joined(member, std::to_string(std::bit_cast<std::uint64_t>(score + 0.0))));
      });
      break;
    case value_kind::stream: add_stream(entry.as<stream_value>()); break;
  }
}

void digest::add_stream(const stream_value& stream) {
  stream_cursor cursor(stream, stream_id::lowest(), stream_id::highest(), false);
  while (cursor.next()) {
    append(stream_id_text(cursor.entry().id).view());
    cursor.entry().for_each_field(
        [this](std::string_view name, std::string_view value) { append(joined(name, value)); });
  }
  append(fmt::format("{} {} {}", stream_id_text(stream.last_id).view(),
                     stream_id_text(stream.max_deleted_id).view(), stream.entries_added));
  for (const auto& [name, group] : stream.groups()) {
    append(joined(std::string_view(name), stream_id_text(group.last_id).view()));
    for (const auto& [consumer_name, consumer] : group.consumers()) {
      append(std::string_view(consumer_name));
      for (const auto& id : consumer.pending) append(stream_id_text(id).view());
    }
  }
}

digest digest::of_value(const entry& entry) {
  digest made;
  made.add_value(entry);
  made.append(name_of(entry.type()));
  if (entry.has_expiry()) made.append("expires");
  return made;
}

digest digest::of_all(keyspace& keyspace) {
  digest all;
  for (unsigned i = 0; i < keyspace::database_count; ++i) {
    keyspace[i].for_each([&](const entry* each) {
      all.add(fmt::format("{} {}", i, joined(each->key(), of_value(*each).text())));
    });
  }
  return all;
}

std::string digest::text() const { return fmt::format("{:08x}{:016x}{:016x}", 0, high_, low_); }

}  // namespace strata::runtime::cache
