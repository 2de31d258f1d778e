#include "runtime/cache/disk/snapshot.hpp"

#include <algorithm>
#include <chrono>

namespace strata::runtime::cache {

namespace {

bool has_field_times(keyspace& keyspace) {
  for (unsigned i = 0; i < keyspace::database_count; ++i) {
    if (keyspace[i].dated() != 0) return true;
  }
  return false;
}

}  // namespace

snapshot::snapshot(keyspace& keyspace, bool is_log_base, bool may_have_field_times)
    : of_(keyspace) {
  file_.begin(keyspace.now_ms(), keyspace.memory(), is_log_base,
              may_have_field_times && has_field_times(keyspace));
  for (const auto& [name, text] : keyspace.functions().all()) file_.function(text);
  for (unsigned i = 0; i < keyspace::database_count; ++i) {
    keyspace[i].turn_marks();
    parts_.push_back({&keyspace[i], i});
  }
  keyspace.set_guard(this);
}

// Marks entries that were not written as well, so that the next snapshot finds all marks equal.
snapshot::~snapshot() {
  if (!done_) {
    const charging scope(of_.memory_account());
    taken_over_.clear();
    for (unsigned i = 0; i < keyspace::database_count; ++i) of_[i].mark_all();
  }
  of_.set_guard(nullptr);
}

bool snapshot::step(loop::duration budget) {
  const charging scope(of_.memory_account());
  const auto& clock = of_.clock();
  const auto deadline_us =
      clock.steady_us() + std::chrono::duration_cast<std::chrono::microseconds>(budget).count();
  constexpr int between_looks = 16;
  for (int i = 1; !done_; ++i) {
    const auto next = std::ranges::find_if(parts_, [](const part& each) { return !each.done; });
    if (next == parts_.end()) {
      finish();
    } else {
      next->done = step_part(*next);
    }
    if (i % between_looks == 0 && clock.steady_us() >= deadline_us) break;
  }
  return !done_;
}

bool snapshot::step_part(part& part) {
  found_.clear();
  part.cursor = part.from->scan(part.cursor, [this](entry* each) { found_.push_back(each); });
  for (auto* each : found_) {
    if (!part.from->is_marked(*each)) put(*each, part.number);
  }
  return part.cursor == 0;
}

void snapshot::put(entry& entry, unsigned number) {
  if (written_database_ != static_cast<int>(number)) {
    written_database_ = static_cast<int>(number);
    const auto& from = *std::ranges::find(parts_, number, &part::number)->from;
    file_.database(number, from.size(), from.expiring());
  }
  file_.put(entry, of_.limits().policy, of_.now_ms());
  of_[0].mark(entry);
  ++keys_;
}

void snapshot::finish() {
  file_.end();
  done_ = true;
  parts_.resize(keyspace::database_count);
  for (auto& each : taken_over_) of_.free_later(std::move(each));
  taken_over_.clear();
}

void snapshot::before_command(unsigned database, const command& command,
                              std::span<const std::string_view> words) {
  if (done_) return;
  key_positions_.clear();
  if (!find_keys(command, words, key_positions_)) return;
  for (const auto at : key_positions_) before_change(database, words[at]);
}

void snapshot::before_change(unsigned database, std::string_view key) {
  if (done_) return;
  auto& from = of_[database];
  entry* const found = from.find(key, hash_of(key));
  if (found != nullptr && !from.is_marked(*found)) put(*found, parts_[database].number);
}

// The databases' contents are swapped; the objects are not.
void snapshot::on_swap(unsigned first, unsigned second) {
  std::swap(parts_[first], parts_[second]);
  std::swap(parts_[first].from, parts_[second].from);
}

void snapshot::before_clear(unsigned database) {
  if (done_ || parts_[database].done) return;
  taken_over_.push_back(of_[database].take_all());
  auto moved = parts_[database];
  moved.from = &taken_over_.back();
  parts_.push_back(moved);
  parts_[database].done = true;
}

}  // namespace strata::runtime::cache
