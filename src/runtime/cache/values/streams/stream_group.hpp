// A consumer group of a stream: how far it has read, its consumers, and the entries that were
// delivered to them but not acknowledged yet.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "runtime/cache/values/charged_allocator.hpp"
#include "runtime/cache/values/streams/stream_id.hpp"

namespace strata::runtime::cache {

struct stream_consumer {
  std::string_view name;  ///< the text in the group's map
  std::int64_t seen_ms = 0;
  std::set<stream_id, std::less<>, charged_allocator<stream_id>> pending = {};
};

/// A delivery that was not acknowledged yet.
struct pending_entry {
  stream_consumer* consumer = nullptr;  ///< null only while it is being created
  std::int64_t delivered_ms = 0;
  std::uint64_t deliveries = 1;
};

class stream_group {
 public:
  using consumer_map =
      std::map<charged_string, stream_consumer, charged_string_order,
               charged_allocator<std::pair<const charged_string, stream_consumer>>>;
  using pending_map = std::map<stream_id, pending_entry, std::less<>,
                               charged_allocator<std::pair<const stream_id, pending_entry>>>;
  using pending_place = pending_map::iterator;
  /// The number of entries read is not known.
  static constexpr std::int64_t unknown = -1;

  stream_group(stream_id last, std::int64_t read) : last_id(last), entries_read(read) {}
  stream_group(const stream_group& other);
  stream_group& operator=(const stream_group&) = delete;
  ~stream_group() = default;

  stream_id last_id;  ///< of the last entry delivered as new
  std::int64_t entries_read;

  [[nodiscard]] const consumer_map& consumers() const { return consumers_; }
  /// Returns null if there is none.
  [[nodiscard]] stream_consumer* find_consumer(std::string_view name);
  /// Creates a consumer, which must not exist.
  stream_consumer& add_consumer(std::string_view name, std::int64_t now_ms);
  /// Removes a consumer and its pending entries.
  void erase_consumer(stream_consumer& consumer);

  [[nodiscard]] const pending_map& pending() const { return pending_; }
  [[nodiscard]] pending_map& pending() { return pending_; }
  /// Creates a pending entry without a consumer, or returns the existing one.
  pending_place add_pending(stream_id id, const pending_entry& entry) {
    return pending_.try_emplace(id, entry).first;
  }
  void assign(pending_place place, stream_consumer& consumer);
  /// Removes a pending entry; returns the place behind it.
  pending_place erase_pending(pending_place place);

  /// Returns the memory of consumers and pending entries, beside the object.
  [[nodiscard]] std::size_t memory() const;
  /// Frees at most `steps` pending entries; reports whether there are more.
  bool shed(std::size_t steps);

 private:
  consumer_map consumers_;
  pending_map pending_;
};

}  // namespace strata::runtime::cache
