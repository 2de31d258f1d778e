// Commands on HyperLogLogs: strings that estimate how many distinct elements were added.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/values/hyper_log_log.hpp"

namespace strata::runtime::cache {

namespace {

using hyper_log_log::outcome;

constexpr std::string_view invalid_value_error =
    "WRONGTYPE Key is not a valid HyperLogLog string value.";
constexpr std::string_view corrupt_error = "INVALIDOBJ Corrupted HLL object detected";

// Returns the entry, which may be null. Replies with an error and returns nullopt if it is no
// HyperLogLog.
std::optional<entry*> open_hyper_log_log(call& c, entry* entry) {
  const auto opened = c.open_string(entry);
  if (!opened || *opened == nullptr) return opened;
  if (hyper_log_log::is_valid(string_view_of(**opened).view())) return opened;
  c.fail(invalid_value_error);
  return {};
}

// Redis converts the value to its plain encoding for every access that may change it.
char* bytes_for_change(entry& entry) { return entry.resize_text(entry.text().size()); }

// Sets the bytes of the value at word `key`; `old` is its entry, null if it is new. Returns its
// entry.
entry* set_bytes(call& c, std::size_t key, entry* old, std::string_view bytes) {
  const auto hash = c.hash(key);
  if (old == nullptr) {
    return c.add(entry::make_bytes(c[key], bytes), hash);
  }
  if (old->capacity() < bytes.size()) {
    // A sparse value grows often.
    const auto is_dense = bytes.size() == hyper_log_log::dense_size;
    entry* const fresh = entry::grow_text(*old, bytes.size() + (is_dense ? 0 : bytes.size() / 2));
    c.data().replace(old, fresh, hash);
    old = fresh;
  }
  std::memcpy(old->resize_text(bytes.size()), bytes.data(), bytes.size());
  return old;
}

std::size_t max_sparse_size(const call& c) {
  return static_cast<std::size_t>(c.home().settings().hyper_log_log_max_sparse_bytes);
}

// --- PFADD

// Adds the elements in place. Returns the number of registers that have changed.
std::uint64_t add_to_dense(const call& c, char* bytes) {
  std::uint64_t raised = 0;
  for (const auto& each : c.words.subspan(2)) {
    if (hyper_log_log::raise_dense(bytes, hyper_log_log::position_of(each))) ++raised;
  }
  if (raised != 0) hyper_log_log::mark_outdated(bytes);
  return raised;
}

// Returns nullopt if the value is corrupt. Redis keeps what was added before it finds that.
std::optional<std::uint64_t> add_to_sparse(const call& c, std::string& bytes) {
  std::uint64_t raised = 0;
  for (const auto& each : c.words.subspan(2)) {
    const auto result =
        hyper_log_log::raise(bytes, hyper_log_log::position_of(each), max_sparse_size(c));
    if (result == outcome::corrupt) return {};
    if (result == outcome::raised) ++raised;
  }
  return raised;
}

void pfadd(call& c) {
  const auto found = open_hyper_log_log(c, c.find(1));
  if (!found) return;
  std::optional<std::uint64_t> changes;
  if (*found != nullptr && hyper_log_log::is_dense((*found)->text())) {
    changes = add_to_dense(c, bytes_for_change(**found));
  } else {
    auto bytes = *found == nullptr ? hyper_log_log::make_empty() : std::string((*found)->text());
    changes = add_to_sparse(c, bytes);
    // A new value is a change, even without elements.
    if (changes && *found == nullptr) ++*changes;
    if (changes && *changes != 0) hyper_log_log::mark_outdated(bytes.data());
    set_bytes(c, 1, *found, bytes);
  }
  if (!changes) {
    c.fail(corrupt_error);
    return;
  }
  if (*changes != 0) c.changed(c[1], event_string, "pfadd", *changes);
  c.reply.integer(*changes != 0 ? 1 : 0);
}

// --- PFCOUNT and PFMERGE

struct merged_values {
  hyper_log_log::registers registers{};
  bool has_dense = false;
};

// Merges the values of all keys from word 1 on; missing keys have no elements. Returns null after
// an error.
std::unique_ptr<merged_values> merge_values(call& c) {
  auto merged = std::make_unique<merged_values>();
  for (std::size_t i = 1; i < c.size(); ++i) {
    const auto found = open_hyper_log_log(c, c.read(i));
    if (!found) return nullptr;
    if (*found == nullptr) continue;
    const auto bytes = (*found)->text();
    if (hyper_log_log::is_dense(bytes)) merged->has_dense = true;
    if (hyper_log_log::merge(merged->registers, bytes)) continue;
    c.fail(corrupt_error);
    return nullptr;
  }
  return merged;
}

void reply_estimate(call& c, std::uint64_t estimate) {
  c.reply.integer(static_cast<std::int64_t>(estimate));
}

// Keeps the estimate in the value. That is a change, though Redis flags the command as reading.
void pfcount_one(call& c) {
  const auto found = open_hyper_log_log(c, c.read(1));
  if (!found) return;
  if (*found == nullptr) {
    c.reply.integer(0);
    return;
  }
  const auto text = (*found)->text();
  if (const auto kept = hyper_log_log::kept_estimate(text)) {
    (void)bytes_for_change(**found);
    reply_estimate(c, *kept);
    return;
  }
  const auto estimate = hyper_log_log::estimate(text);
  c.keys().before_change(c.who.database, c[1]);
  char* const bytes = bytes_for_change(**found);
  if (!estimate) {
    c.fail(corrupt_error);
    return;
  }
  hyper_log_log::keep_estimate(bytes, *estimate);
  c.keys().touch(c.who.database, c[1]);
  c.keys().changes().record();
  c.propagate_list(c.words);
  reply_estimate(c, *estimate);
}

void pfcount(call& c) {
  if (c.size() == 2) {
    pfcount_one(c);
  } else if (const auto merged = merge_values(c)) {
    reply_estimate(c, hyper_log_log::estimate(merged->registers));
  }
}

void pfmerge(call& c) {
  const auto merged = merge_values(c);
  if (!merged) return;
  entry* const found = c.find(1);
  auto bytes = found == nullptr ? hyper_log_log::make_empty() : std::string(found->text());
  // The value is not corrupt, since it was merged.
  if (merged->has_dense) (void)hyper_log_log::make_dense(bytes);
  (void)hyper_log_log::raise_all(bytes, merged->registers, max_sparse_size(c));
  set_bytes(c, 1, found, bytes);
  c.changed(c[1], event_string, "pfadd");
  c.reply.ok();
}

// --- PFDEBUG

// Makes the value dense, and returns its entry. Returns null after an error.
entry* convert(call& c, entry* value) {
  if (hyper_log_log::is_dense(value->text())) return value;
  std::string bytes(value->text());
  if (!hyper_log_log::make_dense(bytes)) {
    c.fail(corrupt_error);
    return nullptr;
  }
  c.keys().changes().record();
  return set_bytes(c, 2, value, bytes);
}

void reply_registers(call& c, std::string_view bytes) {
  c.reply.array(hyper_log_log::register_count);
  for (std::size_t i = 0; i < hyper_log_log::register_count; ++i) {
    c.reply.integer(hyper_log_log::dense_register(bytes, i));
  }
}

void pfdebug(call& c) {
  entry* const there = c.find(2);
  if (there == nullptr) {
    c.fail("ERR The specified key does not exist");
    return;
  }
  const auto found = open_hyper_log_log(c, there);
  if (!found) return;
  (void)bytes_for_change(**found);
  const bool is_dense = hyper_log_log::is_dense((*found)->text());
  if (c.is(1, "GETREG")) {
    if (const auto* const dense = convert(c, *found)) reply_registers(c, dense->text());
  } else if (c.is(1, "DECODE")) {
    if (is_dense) {
      c.fail("ERR HLL encoding is not sparse");
    } else {
      c.reply.bulk(hyper_log_log::describe_runs((*found)->text()));
    }
  } else if (c.is(1, "ENCODING")) {
    c.reply.status(is_dense ? "dense" : "sparse");
  } else if (c.is(1, "TODENSE")) {
    if (convert(c, *found) != nullptr) c.reply.integer(is_dense ? 0 : 1);
  } else {
    c.fail("ERR Unknown PFDEBUG subcommand '" + std::string(c[1]) + "'");
  }
}

// --- PFSELFTEST

// Sets all registers of a dense value and reads them again.
bool check_registers(call& c) {
  std::string bytes = hyper_log_log::make_empty();
  (void)hyper_log_log::make_dense(bytes);
  hyper_log_log::registers expected{};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = static_cast<std::uint8_t>(c.keys().random()() % 64);
    hyper_log_log::raise_dense(bytes.data(), {i, expected[i]});
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto rank = hyper_log_log::dense_register(bytes, i);
    if (rank == expected[i]) continue;
    c.fail(fmt::format("ERR TESTFAILED Register {} should be {} but is {}", i, expected[i], rank));
    return false;
  }
  return true;
}

// Adds ever more elements to a sparse and to a dense value: both must give the same estimate, close
// to the true number.
bool check_estimates(call& c) {
  constexpr std::uint64_t most = 100'000;
  constexpr double standard_error = 1.04 / 128;  // 128: the square root of the registers' number
  const auto seed = c.keys().random()();
  auto sparse = hyper_log_log::make_empty();
  auto dense = sparse;
  (void)hyper_log_log::make_dense(dense);
  for (std::uint64_t count = 1, checkpoint = 1; count <= most; ++count) {
    const auto position = hyper_log_log::position_of(fmt::format("{}:{}", seed, count));
    (void)hyper_log_log::raise(sparse, position, max_sparse_size(c));
    hyper_log_log::raise_dense(dense.data(), position);
    if (count != checkpoint) continue;
    checkpoint *= 10;
    const auto estimate = hyper_log_log::estimate(dense);
    if (estimate != hyper_log_log::estimate(sparse)) {
      c.fail("ERR TESTFAILED dense/sparse disagree");
      return false;
    }
    const auto error = std::abs(static_cast<double>(*estimate) - static_cast<double>(count));
    if (error <= std::ceil(static_cast<double>(count) * standard_error * 6)) continue;
    c.fail(fmt::format("ERR TESTFAILED Too big error. card:{} abserr:{}", count, error));
    return false;
  }
  return true;
}

void pfselftest(call& c) {
  if (check_registers(c) && check_estimates(c)) c.reply.ok();
}

// clang-format off
const command_row hyperloglog_rows[] = {
    {"pfadd", -2, "write denyoom fast", {1, 1, 1},
     "RW insert 1 0 1", "hyperloglog", "2.8.9",
     "adds elements to a HyperLogLog", pfadd},
    {"pfcount", -2, "readonly", {1, -1, 1},
     "RW access 1 -1 1", "hyperloglog", "2.8.9",
     "estimates the number of distinct elements of HyperLogLogs", pfcount, {},
     trait_propagated},
    {"pfdebug", 3, "write denyoom admin", {2, 2, 1},
     "RW access 2 0 1", "hyperloglog admin dangerous", "2.8.9",
     "returns details of the storage of a HyperLogLog", pfdebug},
    {"pfmerge", -2, "write denyoom", {1, -1, 1},
     "RW access insert 1 0 1; RO access 2 -1 1", "hyperloglog", "2.8.9",
     "merges HyperLogLogs into the first of them", pfmerge},
    {"pfselftest", 1, "admin", {0, 0, 0},
     "", "hyperloglog admin dangerous", "2.8.9",
     "tests the implementation of HyperLogLogs", pfselftest},
};
// clang-format on

}  // namespace

command_group hyperloglog_commands() { return {"hyperloglog", hyperloglog_rows}; }

}  // namespace strata::runtime::cache
