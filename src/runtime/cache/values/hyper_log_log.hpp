// A HyperLogLog, which estimates the number of distinct elements, in the bytes of a string: the
// same bytes that Redis stores.
//
// Header: "HYLL", the encoding (0: dense, 1: sparse), three unused bytes, and the last estimate in
// eight bytes, least significant first, of which the highest bit says that it is outdated. 16384
// registers of six bits follow. The sparse encoding has them as runs:
//   00LLLLLL           L + 1 registers that are 0
//   01LLLLLL LLLLLLLL  L + 1 registers that are 0
//   1VVVVVLL           L + 1 registers that are V + 1
//
// Clients can write any bytes, so runs may cover more or fewer registers than there are: then the
// value is corrupt.
//
// Source: O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", for the
// estimate; `redis-server` 7.0 for the form.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::runtime::cache::hyper_log_log {

inline constexpr std::size_t register_count = 16384;
inline constexpr std::size_t header_size = 16;
inline constexpr std::size_t dense_size = header_size + register_count * 6 / 8;
/// The registers, each in a byte of its own.
using registers = std::array<std::uint8_t, register_count>;

/// The register of an element, and the least value that it then has.
struct position {
  std::size_t index;
  unsigned rank;
};
[[nodiscard]] position position_of(std::string_view element);

/// Returns the bytes of a HyperLogLog without elements.
[[nodiscard]] std::string make_empty();
/// Reports whether the header is one, and the size possible. The runs may be corrupt nevertheless.
[[nodiscard]] bool is_valid(std::string_view bytes);

// --- of valid bytes

[[nodiscard]] inline bool is_dense(std::string_view bytes) { return bytes[4] == 0; }
/// Returns the last estimate unless it is outdated.
[[nodiscard]] std::optional<std::uint64_t> kept_estimate(std::string_view bytes);
void keep_estimate(char* bytes, std::uint64_t estimate);
inline void mark_outdated(char* bytes) { bytes[15] = static_cast<char>(bytes[15] | 0x80); }

/// Returns nullopt if the value is corrupt.
[[nodiscard]] std::optional<std::uint64_t> estimate(std::string_view bytes);
[[nodiscard]] std::uint64_t estimate(const registers& registers);
/// Raises the registers to those of the value. Returns false if it is corrupt.
[[nodiscard]] bool merge(registers& registers, std::string_view bytes);

[[nodiscard]] unsigned dense_register(std::string_view bytes, std::size_t index);
/// Raises a register of the dense encoding; reports whether it was lower.
bool raise_dense(char* bytes, position position);

enum class outcome : std::uint8_t { unchanged, raised, corrupt };
/// Raises a register. The encoding becomes dense if the rank is too high for the sparse one, or if
/// that would need more than `max_sparse_size` bytes.
[[nodiscard]] outcome raise(std::string& bytes, position position, std::size_t max_sparse_size);
/// As `raise` for each register, the lowest first, in one pass. Returns false if the value is
/// corrupt.
[[nodiscard]] bool raise_all(std::string& bytes, const registers& registers,
                             std::size_t max_sparse_size);
/// Makes the encoding dense. Returns false if the value is corrupt, and leaves it unchanged.
[[nodiscard]] bool make_dense(std::string& bytes);
/// Lists the runs of the sparse encoding, as PFDEBUG DECODE does.
[[nodiscard]] std::string describe_runs(std::string_view bytes);

}  // namespace strata::runtime::cache::hyper_log_log
