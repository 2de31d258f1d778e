// Commands on pending entries, which were delivered to a consumer and not acknowledged yet.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/streams/stream_group_words.hpp"

namespace strata::runtime::cache {

namespace {

// --- XPENDING

void reply_pending_summary(call& c, const stream_group& group) {
  const auto& pending = group.pending();
  c.reply.array(4);
  c.reply.integer(static_cast<std::int64_t>(pending.size()));
  if (pending.empty()) {
    c.reply.null();
    c.reply.null();
    c.reply.null_array();
    return;
  }
  reply_stream_id(c, pending.begin()->first);
  reply_stream_id(c, std::prev(pending.end())->first);
  const auto has_pending = [](const auto& each) { return !each.second.pending.empty(); };
  c.reply.array(static_cast<std::uint64_t>(std::ranges::count_if(group.consumers(), has_pending)));
  for (const auto& [name, consumer] : group.consumers()) {
    if (consumer.pending.empty()) continue;
    c.reply.array(2);
    c.reply.bulk(name);
    c.reply.bulk_integer(static_cast<std::int64_t>(consumer.pending.size()));
  }
}

struct pending_words {
  stream_id first;
  stream_id last;
  std::uint64_t count = 0;
  std::int64_t least_idle_ms = 0;
  std::optional<std::string_view> consumer;
};

// Reads [IDLE ms] first last count [consumer].
std::optional<pending_words> read_pending_words(call& c) {
  pending_words read;
  std::size_t begin = 3;
  if (c.is(begin, "IDLE")) {
    const auto idle = c.integer(4);
    if (!idle) return {};
    if (c.size() < 8) {
      c.fail_syntax();
      return {};
    }
    read.least_idle_ms = *idle;
    begin = 5;
  }
  const auto count = c.integer(begin + 2);
  if (!count) return {};
  read.count = static_cast<std::uint64_t>(std::max<std::int64_t>(*count, 0));
  const auto first = read_interval_end(c, begin, interval_end::first);
  if (!first) return {};
  const auto last = read_interval_end(c, begin + 1, interval_end::last);
  if (!last) return {};
  read.first = *first;
  read.last = *last;
  if (begin + 3 < c.size()) read.consumer = c[begin + 3];
  return read;
}

void reply_pending_entries(call& c, stream_group& group, const pending_words& words) {
  using found_entry = std::pair<stream_id, const pending_entry*>;
  std::vector<found_entry> found;
  const auto add = [&](const stream_id& id, const pending_entry& entry) {
    if (id > words.last || found.size() == words.count) return false;
    if (is_idle_for(c, entry, words.least_idle_ms)) found.emplace_back(id, &entry);
    return true;
  };
  if (words.consumer) {
    const auto* const consumer = group.find_consumer(*words.consumer);
    if (consumer == nullptr) {
      c.reply.array(0);
      return;
    }
    for (auto at = consumer->pending.lower_bound(words.first); at != consumer->pending.end();
         ++at) {
      if (!add(*at, group.pending().find(*at)->second)) break;
    }
  } else {
    for (auto at = group.pending().lower_bound(words.first); at != group.pending().end(); ++at) {
      if (!add(at->first, at->second)) break;
    }
  }
  c.reply.array(found.size());
  for (const auto& [id, entry] : found) {
    c.reply.array(4);
    reply_stream_id(c, id);
    c.reply.bulk(entry->consumer->name);
    c.reply.integer(std::max<std::int64_t>(elapsed_ms(c.now_ms(), entry->delivered_ms), 0));
    c.reply.integer(static_cast<std::int64_t>(entry->deliveries));
  }
}

void xpending(call& c) {
  const bool is_summary = c.size() == 3;
  if (!is_summary && (c.size() < 6 || c.size() > 9)) {
    c.fail_syntax();
    return;
  }
  std::optional<pending_words> words;
  if (!is_summary) {
    words = read_pending_words(c);
    if (!words) return;
  }
  const auto found = require_group(c);
  if (!found) return;
  if (words) {
    reply_pending_entries(c, *found->group, *words);
  } else {
    reply_pending_summary(c, *found->group);
  }
}

// --- claiming

// The pending entries of a group that a consumer takes over, and what becomes of them.
class claim {
 public:
  claim(call& c, const found_group& source)
      : call_(c), source_(source), changes_(c, c[1], c[2], *source.group) {}

  std::int64_t least_idle_ms = 0;
  bool is_forced = false;
  bool only_ids = false;
  std::int64_t delivered_ms = 0;
  std::optional<std::uint64_t> deliveries;

  /// Forgets a pending entry whose entry does not exist any more; returns the place behind it.
  stream_group::pending_place forget(stream_group::pending_place place, std::string_view id) {
    changes_.add_delivery(id, place->second);
    call_.keys().changes().record();
    return source_.group->erase_pending(place);
  }
  /// Gives a pending entry to the consumer, if it is idle for long enough.
  bool take(stream_group::pending_place place, std::string_view id) {
    auto& entry = place->second;
    if (entry.consumer != nullptr && !is_idle_for(call_, entry, least_idle_ms)) return false;
    if (consumer_ == nullptr) consumer_ = &seen_consumer(call_, call_[1], *source_.group, call_[3]);
    source_.group->assign(place, *consumer_);
    entry.delivered_ms = delivered_ms;
    if (deliveries) {
      entry.deliveries = *deliveries;
    } else if (!only_ids) {
      ++entry.deliveries;
    }
    changes_.add_delivery(id, entry);
    call_.keys().changes().record();
    taken_.push_back(place->first);
    return true;
  }
  void note_position() {
    changes_.add_position();
    call_.keys().changes().record();
  }
  void reply_taken() const {
    call_.reply.array(taken_.size());
    for (const auto& id : taken_) {
      if (only_ids) {
        reply_stream_id(call_, id);
      } else {
        (void)reply_one_entry(call_, *source_.stream, id);
      }
    }
  }
  void propagate() { group_changes::propagate(call_, changes_.take()); }

 private:
  call& call_;
  const found_group& source_;
  group_changes changes_;
  stream_consumer* consumer_ = nullptr;
  std::vector<stream_id> taken_;
};

struct claim_options {
  std::int64_t delivered_ms = -1;
  std::int64_t deliveries = -1;
  stream_id last_id;
  bool is_forced = false;
  bool only_ids = false;
};

// Reads the options from word `first` on. Returns nullopt after an error.
std::optional<claim_options> read_claim_options(call& c, std::size_t first) {
  claim_options read;
  for (std::size_t i = first; i < c.size(); ++i) {
    const bool has_value = i + 1 < c.size();
    std::optional<std::int64_t> number;
    if (c.is(i, "FORCE")) {
      read.is_forced = true;
    } else if (c.is(i, "JUSTID")) {
      read.only_ids = true;
    } else if (has_value && c.is(i, "IDLE")) {
      number = c.integer(++i, "ERR Invalid IDLE option argument for XCLAIM");
      if (!number) return {};
      read.delivered_ms = elapsed_ms(c.now_ms(), *number);
    } else if (has_value && c.is(i, "TIME")) {
      number = c.integer(++i, "ERR Invalid TIME option argument for XCLAIM");
      if (!number) return {};
      read.delivered_ms = *number;
    } else if (has_value && c.is(i, "RETRYCOUNT")) {
      number = c.integer(++i, "ERR Invalid RETRYCOUNT option argument for XCLAIM");
      if (!number) return {};
      read.deliveries = *number;
    } else if (has_value && c.is(i, "LASTID")) {
      const auto id = read_stream_id(c, ++i);
      if (!id) return {};
      read.last_id = *id;
    } else {
      c.fail(fmt::format("ERR Unrecognized XCLAIM option '{}'", before_nul(c[i])));
      return {};
    }
  }
  return read;
}

// Claims the entry at word `index`. Reports whether anything has changed.
bool claim_entry(const call& c, const found_group& source, claim& claim, stream_id id,
                 std::size_t index) {
  auto& pending = source.group->pending();
  auto place = pending.find(id);
  if (!source.stream->contains(id)) {
    if (place == pending.end()) return false;
    claim.forget(place, c[index]);
    return true;
  }
  if (place == pending.end()) {
    if (!claim.is_forced) return false;
    place = source.group->add_pending(id, {nullptr, c.now_ms()});
  }
  return claim.take(place, c[index]);
}

void xclaim(call& c) {
  const auto found = require_group(c);
  if (!found) return;
  const auto idle = c.integer(4, "ERR Invalid min-idle-time argument for XCLAIM");
  if (!idle) return;
  std::vector<stream_id> ids;
  for (std::size_t i = 5; i < c.size(); ++i) {
    const auto parsed = parse_stream_id(c[i], 0, false);
    if (!parsed) break;
    ids.push_back(parsed->id);
  }
  const auto options = read_claim_options(c, 5 + ids.size());
  if (!options) return;
  claim claim(c, *found);
  claim.least_idle_ms = std::max<std::int64_t>(*idle, 0);
  claim.is_forced = options->is_forced;
  claim.only_ids = options->only_ids;
  claim.delivered_ms = options->delivered_ms;
  if (options->delivered_ms < 0 || options->delivered_ms > c.now_ms()) {
    claim.delivered_ms = c.now_ms();
  }
  if (options->deliveries >= 0) claim.deliveries = static_cast<std::uint64_t>(options->deliveries);
  const bool moves = options->last_id > found->group->last_id;
  if (moves) found->group->last_id = options->last_id;
  bool has_changed = false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (claim_entry(c, *found, claim, ids[i], 5 + i)) has_changed = true;
  }
  // A delivery names the position as well.
  if (moves && !has_changed) claim.note_position();
  claim.reply_taken();
  claim.propagate();
}

// --- XAUTOCLAIM

struct scan_options {
  std::uint64_t count = 100;
  bool only_ids = false;
};

constexpr std::uint64_t attempts_per_entry = 10;

std::optional<scan_options> read_scan_options(call& c) {
  constexpr std::int64_t most = INT64_MAX / 16;
  // Redis allocates room for as many ids at once.
  constexpr std::int64_t most_in_memory = std::int64_t{1} << 36U;
  scan_options read;
  bool is_too_large = false;
  for (std::size_t i = 6; i < c.size(); ++i) {
    if (c.is(i, "COUNT") && i + 1 < c.size()) {
      const auto count = text::parse_integer(c[++i]);
      if (!count || *count < 1 || *count > most) {
        c.fail("ERR COUNT must be > 0");
        return {};
      }
      is_too_large = *count > most_in_memory;
      read.count = static_cast<std::uint64_t>(*count);
    } else if (c.is(i, "JUSTID")) {
      read.only_ids = true;
    } else {
      c.fail_syntax();
      return {};
    }
  }
  if (is_too_large) read.count = UINT64_MAX;
  return read;
}

void xautoclaim(call& c) {
  const auto idle = c.integer(4, "ERR Invalid min-idle-time argument for XAUTOCLAIM");
  if (!idle) return;
  const auto first = read_interval_end(c, 5, interval_end::first);
  if (!first) return;
  const auto options = read_scan_options(c);
  if (!options) return;
  const auto found = require_group(c);
  if (!found) return;
  if (options->count == UINT64_MAX) {
    c.fail("ERR Insufficient memory, failed allocating transient memory, COUNT too high.");
    return;
  }
  claim claim(c, *found);
  claim.least_idle_ms = std::max<std::int64_t>(*idle, 0);
  claim.only_ids = options->only_ids;
  claim.delivered_ms = c.now_ms();
  auto& pending = found->group->pending();
  std::vector<stream_id> missing;
  auto place = pending.lower_bound(*first);
  auto left = options->count;
  for (auto attempts = left * attempts_per_entry; attempts != 0 && left != 0; --attempts) {
    if (place == pending.end()) break;
    const auto id = place->first;
    const stream_id_text text(id);
    if (!found->stream->contains(id)) {
      place = claim.forget(place, text.view());
      missing.push_back(id);
      --left;
      continue;
    }
    if (claim.take(place, text.view())) --left;
    ++place;
  }
  c.reply.array(3);
  reply_stream_id(c, place == pending.end() ? stream_id::lowest() : place->first);
  claim.reply_taken();
  c.reply.array(missing.size());
  for (const auto& id : missing) reply_stream_id(c, id);
  claim.propagate();
}

// clang-format off
const command_row stream_pending_rows[] = {
    {"xautoclaim", -6, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "stream", "6.2.0",
     "gives pending entries that are idle to a consumer", xautoclaim},
    {"xclaim", -6, "write fast", {1, 1, 1},
     "RW update 1 0 1", "stream", "5.0.0",
     "gives pending entries to a consumer, by their ids", xclaim},
    {"xpending", -3, "readonly", {1, 1, 1},
     "RO access 1 0 1", "stream", "5.0.0",
     "returns the pending entries of a group", xpending},
};
// clang-format on

}  // namespace

command_group stream_pending_commands() { return {"stream", stream_pending_rows}; }

}  // namespace strata::runtime::cache
