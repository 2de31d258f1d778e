// The plan of a benchmark run: what to measure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/ends/catalogue.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

enum class quantity : std::uint8_t {
  one_way,     ///< messages per second, counted by the receiver
  round_trip,  ///< a message and its answer
  filter,      ///< the receiver's cost per message among foreign frames
};

[[nodiscard]] std::string_view name_of(quantity quantity);

/// The user's request; unset values follow from `full`.
struct request {
  bool full = false;
  std::string measures;  ///< `one-way,round-trip,filter,sockets`; empty means all
  std::string paths;     ///< names from the catalogue; empty means all
  std::string payloads;  ///< bytes; empty means a selection, or all of them
  std::string tagged;    ///< `none`, `some` (the least and the last that fits 1500 B) or `all`
  std::uint16_t vlan_id = 10;
  std::uint8_t priority = 7;
  std::string base = "udp";          ///< the path to which the others are compared
  std::optional<std::uint32_t> mtu;  ///< for all measurements; unset: 1500, or 9000 for large
                                     ///< payloads
  std::optional<double> seconds;
  std::optional<std::uint64_t> runs;
  std::optional<std::uint64_t> buffer;
  double rate = 0;
  double foreign = 100'000;
  bool planted_sleep = false;
};

struct contender {
  const path_row* path = nullptr;
  bool tagged = false;
  double foreign = 0;
};

/// Contenders to be compared.
struct group {
  quantity kind = quantity::one_way;
  std::uint64_t payload = 0;
  std::uint32_t mtu = 0;  ///< of the link
  bool busy = false;
  double rate = 0;
  std::vector<contender> contenders;
};

struct plan {
  std::vector<group> groups;
  bool measures_sockets = false;
  double seconds = 0;      ///< per measurement
  std::uint64_t runs = 0;  ///< how often each contender of each group is measured
  std::uint64_t buffer = 0;
  std::uint16_t vlan_id = 0;  ///< in the tags of tagged contenders
  std::uint8_t priority = 0;
  const path_row* base = nullptr;    ///< to which the others are compared; never null
  std::optional<std::uint32_t> mtu;  ///< of all groups, if the request sets one
  bool planted_sleep = false;
};

/// Errors: invalid_argument and not_found, naming the requested value. `mtu` is the largest that
/// the link supports: larger payloads are left out. `has_plain` is whether the plain C program
/// exists.
[[nodiscard]] result<plan> make_plan(const request& request, std::uint32_t mtu, bool has_plain);

}  // namespace strata::measure
