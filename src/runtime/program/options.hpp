// The options of a program. The table in options.cpp gives each member its flag and its help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/option_table.hpp"
#include "runtime/options/runtime_options.hpp"

namespace strata::runtime::program {

struct program_options : runtime_options {
  std::string command;
  bool shell = false;
  std::vector<std::string> env;
  std::string folder;
  std::uint64_t instances = 1;
  std::optional<std::uint64_t> port;
  std::string ready = "started";
  double ready_timeout = 10;
  std::string stop_signal = "TERM";
  double grace = 10;
  std::string alive;
  double alive_interval = 10;
  std::uint64_t alive_limit = 3;
  std::string output_file;
  std::uint64_t output_size = std::uint64_t{10} << 20U;
  std::uint64_t output_keep = 5;
  std::string user;
  std::vector<std::string> limit;
  std::uint64_t memory = 0;  ///< bytes; 0: no limit
  std::string cpus;          ///< a number of processors; empty: no limit
  std::uint64_t tasks = 0;   ///< 0: no limit
  bool keep_socket = false;
  double drain = 1;
  bool attached = false;
  std::string pid;
  bool managed = false;

  /// Where its instances listen; empty if they have no port.
  [[nodiscard]] std::vector<std::string> endpoints() const;
  /// Whether its processes report their state, as of sd_notify(3).
  [[nodiscard]] bool takes_notifications() const { return ready == "notify" || alive == "notify"; }
};

/// The error of options that cannot be.
[[nodiscard]] std::unexpected<error> refuse_options(std::string reason, std::string advice);

[[nodiscard]] const std::vector<options::bound_row<program_options>>& option_table();
[[nodiscard]] const std::vector<options::option_row>& option_rows();

}  // namespace strata::runtime::program
