// A block of a stream's entries with ascending ids, in one pack. The names of the fields of the
// block's first entry are stored once; an entry with the same names has only its values.
//
// The layout is Redis's, so that a dump is a copy, and so that blocks are full after as many
// entries as in Redis. A head: the number of entries, the number of deleted entries, the number of
// the first entry's fields, their names, 0. Then for each entry: flags, the differences of its id
// to the block's id, for other names than the first's their number and each name before its value,
// the values, and the number of the entry's elements, by which the block is read backwards.
// Deleted entries stay, with a flag. Their ids may be higher than those of entries behind them, if
// the stream was set back. Source: the documents of Redis's streams and its dumps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/cache/values/pack.hpp"
#include "runtime/cache/values/streams/stream_id.hpp"

namespace strata::runtime::cache {

class stream_block;

/// An entry in a block; valid until the block changes.
struct stream_entry {
  const stream_block* block = nullptr;
  stream_id id;
  bool is_deleted = false;
  bool has_first_names = false;
  std::uint64_t fields = 0;
  pack::offset at = pack::none;    ///< its flags
  pack::offset body = pack::none;  ///< its first name or value

  /// Calls `callback(name, value)` for each field.
  template <class Callback>
  void for_each_field(Callback&& callback) const;
};

class stream_block {
 public:
  /// Creates a block without entries. `words` are the names and values of its first entry.
  stream_block(stream_id first, std::span<const std::string_view> words);
  /// Returns the block in a dump, which is checked completely; nullopt if it is damaged.
  [[nodiscard]] static std::optional<stream_block> load(stream_id first, std::string_view dumped);

  /// Appends an entry; its id must be higher than those of all others that are not deleted.
  void append(stream_id id, std::span<const std::string_view> words);
  /// Marks an entry as deleted, which must not be so already. Returns it, since entries may move.
  stream_entry erase(const stream_entry& entry);
  /// Remembers an entry that is not deleted: reading is likely to continue there.
  void remember(const stream_entry& entry) const { remembered_ = entry.at - elements_.first(); }
  /// Frees memory kept for more entries.
  void shrink() { elements_.shrink(); }

  // Entries in order, deleted ones included; nullopt at the end.
  [[nodiscard]] std::optional<stream_entry> first() const;
  [[nodiscard]] std::optional<stream_entry> last() const;
  [[nodiscard]] std::optional<stream_entry> next(const stream_entry& entry) const;
  [[nodiscard]] std::optional<stream_entry> previous(const stream_entry& entry) const;
  /// Returns the last entry that is not deleted.
  [[nodiscard]] std::optional<stream_entry> last_present() const;
  /// Returns where to search for ids from `id` on: all entries before it are deleted or have lower
  /// ids.
  [[nodiscard]] std::optional<stream_entry> search_start(stream_id id) const;
  /// Finds an entry that is not deleted.
  [[nodiscard]] std::optional<stream_entry> find(stream_id id) const;

  [[nodiscard]] std::uint64_t size() const { return header(0); }
  [[nodiscard]] std::uint64_t deleted() const { return header(1); }
  /// As Redis counts them for the size of blocks.
  [[nodiscard]] std::size_t bytes() const { return elements_.bytes(); }
  [[nodiscard]] std::size_t memory() const { return elements_.memory(); }
  [[nodiscard]] std::string dump() const { return elements_.dump(); }
  [[nodiscard]] const pack& elements() const { return elements_; }
  [[nodiscard]] pack::offset first_name() const { return skip(elements_.first(), 3); }

 private:
  explicit stream_block(stream_id first) : first_(first) {}
  [[nodiscard]] std::uint64_t header(std::size_t index) const;
  [[nodiscard]] pack::offset skip(pack::offset offset, std::uint64_t count) const;
  [[nodiscard]] stream_entry read(pack::offset offset) const;
  [[nodiscard]] bool has_names(std::span<const std::string_view> words) const;
  void add_to_header(std::size_t index, std::int64_t change);
  void push(std::uint64_t value);
  [[nodiscard]] bool is_valid() const;
  [[nodiscard]] std::optional<pack::offset> checked_entry(pack::offset offset,
                                                          stream_id& least) const;

  stream_id first_;
  pack elements_;
  std::uint32_t first_fields_ = 0;  // the number of the first entry's fields
  // Behind the first element; `pack::none`: no entry is remembered.
  mutable pack::offset remembered_ = pack::none;
};

template <class Callback>
void stream_entry::for_each_field(Callback&& callback) const {
  const pack& elements = block->elements();
  pack::offset name_at = has_first_names ? block->first_name() : body;
  pack::offset value_at = body;
  for (auto left = fields; left != 0; --left) {
    const auto name = elements.at(name_at);
    if (!has_first_names) value_at = elements.next(name_at);
    const auto value = elements.at(value_at);
    callback(name.text(), value.text());
    name_at = elements.next(has_first_names ? name_at : value_at);
    if (has_first_names) value_at = elements.next(value_at);
  }
}

}  // namespace strata::runtime::cache
