// What a run of the benchmark is to measure.
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
  one_way,     ///< messages a second, counted by the receiver
  round_trip,  ///< a message and its answer
  filter,      ///< what a message costs its receiver beside foreign frames
};

[[nodiscard]] std::string_view name_of(quantity quantity);

/// What the person asked for; what is unset follows from `full`.
struct request {
  bool full = false;
  std::string measures;  ///< `one-way,round-trip,filter,sockets`; empty: all
  std::string paths;     ///< names of the catalogue; empty: all
  std::string payloads;  ///< bytes; empty: a choice, or all of them
  std::string tagged;    ///< `none`, `some` (the least and the last that fits 1500 B) or `all`
  std::uint16_t vlan_id = 10;
  std::uint8_t priority = 7;
  std::string base = "udp";          ///< the path that the others are set beside
  std::optional<std::uint32_t> mtu;  ///< of all measurements; unset: 1500, or 9000 for large ones
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

/// Contenders that are to be compared.
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
  double seconds = 0;      ///< of one measurement
  std::uint64_t runs = 0;  ///< how often each contender of each group is measured
  std::uint64_t buffer = 0;
  std::uint16_t vlan_id = 0;  ///< in the tags of those that are tagged
  std::uint8_t priority = 0;
  const path_row* base = nullptr;    ///< what the others are set beside; never null
  std::optional<std::uint32_t> mtu;  ///< of all groups, if they were to have the same
  bool planted_sleep = false;
};

/// Errors: invalid_argument and not_found, naming what was asked for. `mtu` is the largest that the
/// link can have: what does not fit is left out. `has_plain` says whether the plain C program is
/// there.
[[nodiscard]] result<plan> make_plan(const request& request, std::uint32_t mtu, bool has_plain);

}  // namespace strata::measure
