// A stream: entries with ascending ids, in blocks by the id of each block's first entry, and the
// consumer groups that read them. A stream without entries remains.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "runtime/cache/values/charged_allocator.hpp"
#include "runtime/cache/values/entry.hpp"
#include "runtime/cache/values/streams/stream_block.hpp"
#include "runtime/cache/values/streams/stream_group.hpp"

namespace strata::runtime::cache {

/// When a block is full; 0: no limit.
struct stream_limits {
  std::int64_t max_block_bytes = 4096;
  std::int64_t max_block_entries = 100;
};

/// What trimming keeps: the last entries, or those from an id on.
struct stream_trimming {
  std::optional<std::uint64_t> max_size;
  stream_id least_id;
  bool is_approximate = false;  ///< removes only whole blocks
  std::int64_t limit = 0;       ///< of removed entries; 0: none
};

class stream_value final : public collection {
 public:
  static constexpr value_kind kind = value_kind::stream;
  using block_map = std::map<stream_id, stream_block, std::less<>,
                             charged_allocator<std::pair<const stream_id, stream_block>>>;
  using group_map = std::map<charged_string, stream_group, charged_string_order,
                             charged_allocator<std::pair<const charged_string, stream_group>>>;

  // --- entries
  /// Appends an entry, whose id must be higher than `last_id`.
  void append(stream_id id, std::span<const std::string_view> words, const stream_limits& limits);
  /// Removes an entry; reports whether it existed.
  bool erase(stream_id id);
  [[nodiscard]] bool contains(stream_id id) const;
  /// Returns the number of entries removed, and adds their ids to `removed` unless it is null.
  std::uint64_t trim(const stream_trimming& trimming, std::vector<stream_id>* removed = nullptr);
  /// Returns the entries that trimming removes if it keeps those that are referenced.
  [[nodiscard]] std::vector<stream_id> unreferenced(const stream_trimming& trimming) const;
  /// Returns the id of the first or last entry that exists.
  [[nodiscard]] std::optional<stream_id> end_id(bool at_front) const;
  /// The number of entries with ids from `first` to `last`, at most `limit`.
  [[nodiscard]] std::uint64_t count(stream_id first, stream_id last, std::uint64_t limit) const;
  [[nodiscard]] const block_map& blocks() const { return blocks_; }
  /// Adds a block from a dump behind all others. Returns false if its entries are not behind
  /// theirs.
  [[nodiscard]] bool add_block(stream_id first, stream_block&& block);

  /// The last id given out: of the last entry, even a deleted one, or set by a client.
  stream_id last_id;
  /// The last id at which waiting clients were served.
  stream_id announced_id;
  /// The first entry's id; the lowest if there is none.
  stream_id first_id;
  /// The highest id that XDEL has removed.
  stream_id max_deleted_id;
  /// The number of entries ever added.
  std::uint64_t entries_added = 0;

  // --- groups
  [[nodiscard]] const group_map& groups() const { return groups_; }
  [[nodiscard]] group_map& groups() { return groups_; }
  /// Reports whether a group has not read the entry yet, or has it pending.
  [[nodiscard]] bool is_referenced(stream_id id) const;
  [[nodiscard]] stream_group* find_group(std::string_view name);
  /// Creates a group; returns null if it exists.
  stream_group* add_group(std::string_view name, stream_id last, std::int64_t read);
  bool erase_group(std::string_view name);
  /// Reports whether an entry with an id from `first` on may have been deleted.
  [[nodiscard]] bool has_deletions_from(stream_id first) const;
  /// Returns the number of entries ever added up to this id, or `stream_group::unknown`.
  [[nodiscard]] std::int64_t entries_up_to(stream_id id) const;
  /// Returns how many entries a group still has to read; nullopt if that is not known.
  [[nodiscard]] std::optional<std::int64_t> lag(const stream_group& group) const;
  /// Counts an entry as delivered to the group.
  void advance(stream_group& group, stream_id id) const;

  [[nodiscard]] value_kind type() const override { return kind; }
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::unique_ptr<collection> clone() const override {
    return std::make_unique<stream_value>(*this);
  }
  [[nodiscard]] std::string_view encoding() const override { return "stream"; }
  [[nodiscard]] std::size_t memory() const override;
  bool shed(std::size_t steps) override;

 private:
  [[nodiscard]] block_map::const_iterator block_of(stream_id id) const;
  std::uint64_t trim_block(stream_block& block, const stream_trimming& trimming,
                           std::vector<stream_id>* removed);
  void find_first();

  block_map blocks_;
  std::size_t size_ = 0;
  group_map groups_;
};

/// Visits entries that exist, in order or backwards. The stream must not change meanwhile.
class stream_cursor {
 public:
  stream_cursor(const stream_value& stream, stream_id first, stream_id last, bool backwards);
  /// Moves to the next entry; returns false if there is none.
  bool next();
  [[nodiscard]] const stream_entry& entry() const { return *entry_; }

 private:
  void step();
  void enter_block();

  const stream_value::block_map& blocks_;
  stream_value::block_map::const_iterator block_;
  std::optional<stream_entry> entry_;
  stream_id first_;
  stream_id last_;
  bool backwards_;
  bool begun_ = false;
};

}  // namespace strata::runtime::cache
