#include "runtime/cache/values/hyper_log_log.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "runtime/cache/values/murmur_hash.hpp"

namespace strata::runtime::cache::hyper_log_log {

namespace {

constexpr unsigned index_bits = 14;
constexpr unsigned hash_bits = 64 - index_bits;
constexpr std::uint64_t hash_seed = 0xadc83b19;
constexpr std::string_view magic = "HYLL";

// --- runs of the sparse encoding

constexpr std::size_t max_short_zeros = 64;
constexpr std::size_t max_equal_ranks = 4;
constexpr unsigned max_sparse_rank = 32;

struct register_run {
  unsigned rank;  // 0 for zeros
  std::size_t length;
  std::size_t size;  // in bytes

  [[nodiscard]] bool is_long() const { return size == 2; }
};

// Reads the run at an offset. A second byte that is missing counts as 0, as it does in Redis, whose
// strings end with one.
register_run run_at(std::string_view bytes, std::size_t offset) {
  const auto first = static_cast<unsigned char>(bytes[offset]);
  if ((first & 0x80U) != 0) return {(first >> 2U & 0x1FU) + 1, (first & 3U) + 1U, 1};
  if ((first & 0x40U) == 0) return {0, (first & 0x3FU) + 1U, 1};
  const auto second =
      offset + 1 < bytes.size() ? static_cast<unsigned char>(bytes[offset + 1]) : 0U;
  return {0, ((first & 0x3FU) << 8U | second) + 1U, 2};
}

void append_zeros(std::string& runs, std::size_t length) {
  if (length == 0) return;
  if (length > max_short_zeros) {
    runs += static_cast<char>((length - 1) >> 8U | 0x40U);
    runs += static_cast<char>((length - 1) & 0xFFU);
  } else {
    runs += static_cast<char>(length - 1);
  }
}

char run_of_ranks(unsigned rank, std::size_t length) {
  return static_cast<char>((rank - 1) << 2U | (length - 1) | 0x80U);
}

void append_ranks(std::string& runs, unsigned rank, std::size_t length) {
  if (rank == 0) {
    append_zeros(runs, length);
  } else if (length != 0) {
    runs += run_of_ranks(rank, length);
  }
}

// Calls `visit(run, index of its first register)` for each run; `visit` returns false to stop.
// Returns the number of registers of the visited runs.
template <class Visit>
std::size_t visit_runs(std::string_view bytes, Visit&& visit) {
  std::size_t index = 0;
  for (auto offset = header_size; offset < bytes.size();) {
    const auto run = run_at(bytes, offset);
    if (!visit(run, index)) break;
    index += run.length;
    offset += run.size;
  }
  return index;
}

// Visits (index, rank) of the registers that are not 0. Returns false if the runs do not cover
// exactly all registers; some may have been visited then.
template <class Visit>
bool visit_sparse(std::string_view bytes, Visit&& visit) {
  bool has_room = true;
  const auto covered = visit_runs(bytes, [&](const register_run& run, std::size_t index) {
    has_room = index + run.length <= register_count;
    for (std::size_t i = 0; has_room && run.rank != 0 && i < run.length; ++i) {
      visit(index + i, run.rank);
    }
    return has_room;
  });
  return has_room && covered == register_count;
}

// --- changes of the sparse encoding

// A run, and its first register.
struct run_place {
  std::size_t offset = header_size;
  std::size_t first = 0;
};

struct found_run {
  register_run run;
  run_place place;
  run_place previous;  // the run before; the first run if there is none
  run_place earlier;   // the run before that
};

// Finds the run of a register from the run at `start` on, which `preceding` precedes.
std::optional<found_run> find_run(std::string_view bytes, std::size_t index, run_place start = {},
                                  run_place preceding = {}) {
  auto previous = preceding;
  auto earlier = preceding;
  for (auto place = start; place.offset < bytes.size();) {
    const auto run = run_at(bytes, place.offset);
    if (index < place.first + run.length) return found_run{run, place, previous, earlier};
    earlier = std::exchange(previous, place);
    place = {place.offset + run.size, place.first + run.length};
  }
  return {};
}

// Joins equal runs around a change. Only five runs are looked at, as in Redis: more would give
// other bytes.
void join_runs(std::string& bytes, std::size_t offset) {
  for (int left = 5; offset < bytes.size() && left != 0; --left) {
    const auto run = run_at(bytes, offset);
    if (run.rank != 0 && offset + 1 < bytes.size()) {
      const auto next = run_at(bytes, offset + 1);
      if (next.rank == run.rank && run.length + next.length <= max_equal_ranks) {
        bytes[offset + 1] = run_of_ranks(run.rank, run.length + next.length);
        bytes.erase(offset, 1);
        continue;
      }
    }
    offset += run.size;
  }
}

outcome promote(std::string& bytes, position position) {
  if (!make_dense(bytes)) return outcome::corrupt;
  raise_dense(bytes.data(), position);
  return outcome::raised;
}

// Raises a register whose run was found.
outcome raise_in(std::string& bytes, const found_run& target, position position,
                 std::size_t max_size) {
  const auto& run = target.run;
  if (run.rank >= position.rank) return outcome::unchanged;
  const auto first = target.place.first;
  std::string split;
  append_ranks(split, run.rank, position.index - first);
  split += run_of_ranks(position.rank, 1);
  append_ranks(split, run.rank, first + run.length - 1 - position.index);
  const auto size = bytes.size() + split.size() - run.size;
  if (split.size() > run.size && size > max_size) return promote(bytes, position);
  bytes.replace(target.place.offset, run.size, split);
  // They differ if the second byte of the last run is missing.
  bytes.resize(size);
  join_runs(bytes, target.previous.offset);
  mark_outdated(bytes.data());
  return outcome::raised;
}

outcome raise_sparse(std::string& bytes, position position, std::size_t max_size) {
  if (position.rank > max_sparse_rank) return promote(bytes, position);
  const auto found = find_run(bytes, position.index);
  return found ? raise_in(bytes, *found, position, max_size) : outcome::corrupt;
}

// --- the estimate

// The number of registers with each value. Registers of corrupt values have up to 63.
using histogram = std::array<std::uint64_t, 64>;

double sigma(double share) {
  if (share == 1) return std::numeric_limits<double>::infinity();
  double weight = 1;
  double sum = share;
  for (double before = -1; before != sum;) {
    share *= share;
    before = sum;
    sum += share * weight;
    weight += weight;
  }
  return sum;
}

double tau(double share) {
  if (share == 0 || share == 1) return 0;
  double weight = 1;
  double sum = 1 - share;
  for (double before = -1; before != sum;) {
    share = std::sqrt(share);
    before = sum;
    weight *= 0.5;
    sum -= std::pow(1 - share, 2) * weight;
  }
  return sum / 3;
}

std::uint64_t estimate(const histogram& counts) {
  constexpr double all = register_count;
  constexpr double alpha = 0.721347520444481703680;  // 0.5 / ln 2
  double sum = all * tau((all - static_cast<double>(counts[hash_bits + 1])) / all);
  for (auto rank = hash_bits; rank >= 1; --rank) {
    sum += static_cast<double>(counts[rank]);
    sum *= 0.5;
  }
  sum += all * sigma(static_cast<double>(counts[0]) / all);
  const auto value = std::round(alpha * all * all / sum);
  // Only corrupt registers give such a number. Redis's conversion gives this one.
  if (!(value < 9.2e18)) return std::uint64_t{1} << 63U;
  return static_cast<std::uint64_t>(value);
}

}  // namespace

position position_of(std::string_view element) {
  const auto hash = murmur_hash(element, hash_seed);
  // A bit behind the hash ends the count of its zeros.
  const auto rest = hash >> index_bits | std::uint64_t{1} << hash_bits;
  return {static_cast<std::size_t>(hash % register_count),
          static_cast<unsigned>(std::countr_zero(rest)) + 1};
}

std::string make_empty() {
  std::string bytes(header_size, '\0');
  bytes.replace(0, magic.size(), magic);
  bytes[4] = 1;
  append_zeros(bytes, register_count);
  return bytes;
}

bool is_valid(std::string_view bytes) {
  if (bytes.size() < header_size || !bytes.starts_with(magic)) return false;
  const auto encoding = static_cast<unsigned char>(bytes[4]);
  return encoding == 1 || (encoding == 0 && bytes.size() == dense_size);
}

std::optional<std::uint64_t> kept_estimate(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = header_size; i-- != 8;) {
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return value >> 63U != 0 ? std::nullopt : std::optional(value);
}

void keep_estimate(char* bytes, std::uint64_t estimate) {
  for (std::size_t i = 8; i < header_size; ++i, estimate >>= 8U) {
    bytes[i] = static_cast<char>(estimate & 0xFFU);
  }
}

std::optional<std::uint64_t> estimate(std::string_view bytes) {
  histogram counts{};
  if (is_dense(bytes)) {
    for (std::size_t i = 0; i < register_count; ++i) ++counts[dense_register(bytes, i)];
    return estimate(counts);
  }
  const auto covered = visit_runs(bytes, [&](const register_run& run, std::size_t) {
    counts[run.rank] += run.length;
    return true;
  });
  if (covered != register_count) return {};
  return estimate(counts);
}

std::uint64_t estimate(const registers& registers) {
  histogram counts{};
  for (const auto each : registers) ++counts[each];
  return estimate(counts);
}

bool merge(registers& registers, std::string_view bytes) {
  const auto raise = [&](std::size_t index, unsigned rank) {
    if (rank > registers[index]) registers[index] = static_cast<std::uint8_t>(rank);
  };
  if (!is_dense(bytes)) return visit_sparse(bytes, raise);
  for (std::size_t i = 0; i < register_count; ++i) raise(i, dense_register(bytes, i));
  return true;
}

// --- the dense encoding: register 0 has the lowest six bits of the first byte, register 1 its
// other two bits and the lowest four of the next, and so on

unsigned dense_register(std::string_view bytes, std::size_t index) {
  const auto byte = header_size + index * 6 / 8;
  const auto shift = index * 6 % 8;
  auto pair = static_cast<unsigned>(static_cast<unsigned char>(bytes[byte]));
  if (shift > 2) pair |= static_cast<unsigned>(static_cast<unsigned char>(bytes[byte + 1])) << 8U;
  return pair >> shift & 0x3FU;
}

bool raise_dense(char* bytes, position position) {
  if (dense_register({bytes, dense_size}, position.index) >= position.rank) return false;
  const auto byte = header_size + position.index * 6 / 8;
  const auto shift = position.index * 6 % 8;
  const auto mask = 0x3FU << shift;
  const auto value = position.rank << shift;
  const auto write = [&](std::size_t offset, unsigned masked, unsigned bits) {
    const auto before = static_cast<unsigned>(static_cast<unsigned char>(bytes[offset]));
    bytes[offset] = static_cast<char>((before & ~masked) | (bits & masked));
  };
  write(byte, mask & 0xFFU, value & 0xFFU);
  if (shift > 2) write(byte + 1, mask >> 8U, value >> 8U);
  return true;
}

// --- both encodings

outcome raise(std::string& bytes, position position, std::size_t max_sparse_size) {
  if (!is_dense(bytes)) return raise_sparse(bytes, position, max_sparse_size);
  return raise_dense(bytes.data(), position) ? outcome::raised : outcome::unchanged;
}

// What is raised changes no run before the previous one, so the next register is looked for from
// there on.
bool raise_all(std::string& bytes, const registers& registers, std::size_t max_sparse_size) {
  found_run last{};
  for (std::size_t i = 0; i < registers.size(); ++i) {
    const position position{i, registers[i]};
    if (position.rank == 0) continue;
    if (is_dense(bytes)) {
      raise_dense(bytes.data(), position);
    } else if (position.rank > max_sparse_rank) {
      if (promote(bytes, position) == outcome::corrupt) return false;
    } else {
      const auto found = find_run(bytes, i, last.previous, last.earlier);
      if (!found) return false;
      if (raise_in(bytes, *found, position, max_sparse_size) == outcome::corrupt) return false;
      last = *found;
    }
  }
  mark_outdated(bytes.data());
  return true;
}

bool make_dense(std::string& bytes) {
  if (is_dense(bytes)) return true;
  std::string dense(dense_size, '\0');
  dense.replace(0, header_size, bytes, 0, header_size);
  dense[4] = 0;
  const bool is_whole = visit_sparse(
      bytes, [&](std::size_t index, unsigned rank) { raise_dense(dense.data(), {index, rank}); });
  if (is_whole) bytes = std::move(dense);
  return is_whole;
}

std::string describe_runs(std::string_view bytes) {
  std::string text;
  visit_runs(bytes, [&](const register_run& run, std::size_t) {
    if (!text.empty()) text += ' ';
    if (run.rank != 0) {
      fmt::format_to(std::back_inserter(text), "v:{},{}", run.rank, run.length);
    } else {
      fmt::format_to(std::back_inserter(text), "{}:{}", run.is_long() ? 'Z' : 'z', run.length);
    }
    return true;
  });
  return text;
}

}  // namespace strata::runtime::cache::hyper_log_log
