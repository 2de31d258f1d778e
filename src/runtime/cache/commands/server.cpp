// Commands on the cache as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/statistics/info.hpp"

namespace strata::runtime::cache {

namespace {

void dbsize(call& c) { c.reply.integer(static_cast<std::int64_t>(c.data().size())); }

bool read_flush_words(call& c) {
  if (c.size() == 1 || (c.size() == 2 && (c.is(1, "SYNC") || c.is(1, "ASYNC")))) return true;
  c.fail_syntax();
  return false;
}

void flush_one(call& c, unsigned index) {
  c.keys().changes().record(c.keys()[index].size());
  const bool is_left_for_later = c.size() == 1 ? c.home().settings().lazy_flush : c.is(1, "ASYNC");
  c.keys().clear(index, is_left_for_later);
}

void flushdb(call& c) {
  if (!read_flush_words(c)) return;
  flush_one(c, c.who.database);
  c.keys().changes().record();
  c.reply.ok();
}

void flushall(call& c) {
  if (!read_flush_words(c)) return;
  for (unsigned i = 0; i < keyspace::database_count; ++i) flush_one(c, i);
  c.keys().changes().record();
  c.reply.ok();
}

void swapdb(call& c) {
  const auto first = c.integer(1, "ERR invalid first DB index");
  const auto second = first ? c.integer(2, "ERR invalid second DB index") : std::nullopt;
  if (!second) return;
  const auto is_index = [](std::int64_t each) {
    return each >= 0 && each < keyspace::database_count;
  };
  if (!is_index(*first) || !is_index(*second)) {
    c.fail("ERR DB index is out of range");
    return;
  }
  c.keys().swap(static_cast<unsigned>(*first), static_cast<unsigned>(*second));
  c.keys().changes().record();
  c.reply.ok();
}

void time(call& c) {
  const auto us = c.keys().clock().wall_us();
  c.reply.array(2);
  c.reply.bulk_integer(us / 1'000'000);
  c.reply.bulk_integer(us % 1'000'000);
}

void info(call& c) { c.reply.verbatim("txt", write_info(c.home(), c.words.subspan(1))); }

void monitor(call& c) {
  c.home().feed().add_monitor(c.who);
  c.reply.ok();
}

// --- LOLWUT

struct picture_size {
  std::int64_t columns = 66;
  std::int64_t rows = 12;
};

// Folds the layers by two waves; the chance chooses their lengths and phases.
std::string draw_layers(picture_size size, std::mt19937_64& random) {
  constexpr std::string_view layers = " .:-=+*#%@#=-. ";
  std::uniform_real_distribution<double> chance(0.0, 1.0);
  const double long_wave = 0.05 + 0.05 * chance(random);
  const double short_wave = 0.15 + 0.15 * chance(random);
  const double phase = 6.28 * chance(random);
  const auto offset = static_cast<std::int64_t>(15 * chance(random));
  std::string text;
  for (std::int64_t row = 0; row < size.rows; ++row) {
    for (std::int64_t column = 0; column < size.columns; ++column) {
      const auto place = static_cast<double>(column);
      const double fold =
          3.0 * std::sin(place * long_wave + phase) + 1.2 * std::sin(place * short_wave);
      const auto depth = row + offset + std::llround(fold + 5.0);
      text += layers[static_cast<std::size_t>(depth) % layers.size()];
    }
    text += '\n';
  }
  return text;
}

// The versions 5 and 6 take the size of their pictures; as in Redis, others take anything.
bool read_picture_size(call& c, picture_size& size) {
  if (c.size() < 3 || !c.is(1, "VERSION")) return true;
  const auto version = c.integer(2);
  if (!version) return false;
  if (*version != 5 && *version != 6) return true;
  constexpr std::int64_t most_columns = 1000;
  constexpr std::int64_t most_rows = 200;
  for (std::size_t i = 3; i < std::min<std::size_t>(c.size(), 6); ++i) {
    const auto number = c.integer(i);
    if (!number) return false;
    if (i == 3) size.columns = std::clamp<std::int64_t>(*number, 1, most_columns);
    if (i == 4) size.rows = std::clamp<std::int64_t>(*number, 1, most_rows);
  }
  return true;
}

void lolwut(call& c) {
  picture_size size;
  if (!read_picture_size(c, size)) return;
  c.reply.verbatim("txt", fmt::format("{}\nRedis ver. {}\n", draw_layers(size, c.keys().random()),
                                      c.home().settings().version.reported));
}

// --- MEMORY

void memory_usage(call& c) {
  for (std::size_t i = 3; i < c.size(); i += 2) {
    if (!c.is(i, "SAMPLES") || i + 1 == c.size()) {
      c.fail_syntax();
      return;
    }
    const auto samples = c.integer(i + 1);
    if (!samples) return;
    if (*samples < 0) {
      c.fail_syntax();
      return;
    }
  }
  const entry* const found = c.keys().find(c.who.database, c[2], c.hash(2));
  if (found == nullptr) {
    c.reply.null();
  } else {
    c.reply.integer(static_cast<std::int64_t>(found->memory()));
  }
}

void memory_doctor(call& c) {
  c.reply.verbatim("txt", fmt::format("{} bytes are used for data; the peak is {} bytes.\n",
                                      c.keys().memory(), c.keys().peak_memory()));
}

void memory_stats(call& c) {
  std::int64_t keys = 0;
  for (unsigned i = 0; i < keyspace::database_count; ++i) {
    keys += static_cast<std::int64_t>(c.keys()[i].size());
  }
  c.reply.map(4);
  c.reply.bulk("peak.allocated");
  c.reply.integer(c.keys().peak_memory());
  c.reply.bulk("total.allocated");
  c.reply.integer(c.keys().memory());
  c.reply.bulk("keys.count");
  c.reply.integer(keys);
  c.reply.bulk("keys.bytes-per-key");
  c.reply.integer(keys == 0 ? 0 : c.keys().memory() / keys);
}

void memory_purge(call& c) { c.reply.ok(); }

void memory_malloc_stats(call& c) {
  c.reply.verbatim("txt", "the allocator keeps no statistics\n");
}

void memory_help(call& c) {
  constexpr std::array<std::string_view, 6> lines = {
      "MEMORY <subcommand>. Subcommands are:",
      "DOCTOR -- reports the memory in use and its peak.",
      "MALLOC-STATS -- returns the statistics of the allocator.",
      "PURGE -- returns free memory to the kernel.",
      "STATS -- returns figures on the use of memory.",
      "USAGE <key> [SAMPLES <n>] -- returns the bytes used by a key and its value."};
  c.reply_lines(lines);
}

// --- SLOWLOG

void slowlog_get(call& c) {
  std::int64_t most = 10;
  if (c.size() == 3) {
    const auto count = text::parse_integer(c[2]);
    if (!count || *count < -1) {
      c.fail("ERR count should be greater than or equal to -1");
      return;
    }
    most = *count;
  } else if (c.size() > 3) {
    c.fail_subcommand();
    return;
  }
  const auto& lines = c.home().statistics().slow().lines();
  const auto count =
      most < 0 ? lines.size() : std::min(lines.size(), static_cast<std::size_t>(most));
  c.reply.array(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& line = lines[i];
    c.reply.array(6);
    c.reply.integer(static_cast<std::int64_t>(line.id));
    c.reply.integer(line.time_s);
    c.reply.integer(line.us);
    c.reply.array(line.words.size());
    for (const auto& each : line.words) c.reply.bulk(each);
    c.reply.bulk(line.address);
    c.reply.bulk(line.name);
  }
}

void slowlog_len(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.home().statistics().slow().lines().size()));
}

void slowlog_reset(call& c) {
  c.home().statistics().slow().clear();
  c.reply.ok();
}

void slowlog_help(call& c) {
  constexpr std::array<std::string_view, 4> lines = {
      "SLOWLOG <subcommand>. Subcommands are:",
      "GET [<count>] -- returns the latest slow commands.",
      "LEN -- returns the number of recorded commands.", "RESET -- removes the recorded commands."};
  c.reply_lines(lines);
}

// clang-format off
const command_row memory_rows[] = {
    {"doctor", 2, "", {0, 0, 0},
     "", "", "4.0.0",
     "reports the memory in use and its peak", memory_doctor},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "4.0.0",
     "lists the subcommands of MEMORY", memory_help},
    {"malloc-stats", 2, "", {0, 0, 0},
     "", "", "4.0.0",
     "returns the statistics of the allocator", memory_malloc_stats},
    {"purge", 2, "", {0, 0, 0},
     "", "", "4.0.0",
     "returns free memory to the kernel", memory_purge},
    {"stats", 2, "", {0, 0, 0},
     "", "", "4.0.0",
     "returns figures on the use of memory", memory_stats},
    {"usage", -3, "readonly", {2, 2, 1},
     "RO 2 0 1", "", "4.0.0",
     "returns the memory used by a key and its value", memory_usage},
};

const command_row slowlog_rows[] = {
    {"get", -2, "admin loading stale", {0, 0, 0},
     "", "admin dangerous", "2.2.12",
     "returns the latest slow commands", slowlog_get},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "6.2.0",
     "lists the subcommands of SLOWLOG", slowlog_help},
    {"len", 2, "admin loading stale", {0, 0, 0},
     "", "admin dangerous", "2.2.12",
     "returns the number of recorded slow commands", slowlog_len},
    {"reset", 2, "admin loading stale", {0, 0, 0},
     "", "admin dangerous", "2.2.12",
     "removes the recorded slow commands", slowlog_reset},
};

const command_row server_rows[] = {
    {"dbsize", 1, "readonly fast", {0, 0, 0},
     "", "keyspace", "1.0.0",
     "returns the number of keys in the database", dbsize},
    {"flushall", -1, "write", {0, 0, 0},
     "", "keyspace dangerous", "1.0.0",
     "removes all keys of all databases", flushall},
    {"flushdb", -1, "write", {0, 0, 0},
     "", "keyspace dangerous", "1.0.0",
     "removes all keys of the database", flushdb},
    {"info", -1, "loading stale", {0, 0, 0},
     "", "dangerous", "1.0.0",
     "returns properties and statistics of this cache", info},
    {"lolwut", -1, "readonly fast", {0, 0, 0},
     "", "", "5.0.0",
     "returns a picture and the version", lolwut},
    {"memory", -2, "", {0, 0, 0},
     "", "", "4.0.0",
     "reports the use of memory", nullptr, memory_rows},
    {"monitor", 1, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "shows every command that is executed", monitor},
    {"slowlog", -2, "", {0, 0, 0},
     "", "", "2.2.12",
     "reports slow commands", nullptr, slowlog_rows},
    {"swapdb", 3, "write fast", {0, 0, 0},
     "", "keyspace dangerous", "4.0.0",
     "swaps the contents of two databases", swapdb},
    {"time", 1, "loading stale fast", {0, 0, 0},
     "", "", "2.6.0",
     "returns the current Unix time in seconds and microseconds", time},
};
// clang-format on

}  // namespace

command_group server_commands() { return {"server", server_rows}; }

}  // namespace strata::runtime::cache
