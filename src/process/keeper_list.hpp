// The keepers that earlier daemons have left in a state folder. The daemon ends those whose
// programs are not to run any more.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::process {

/// The folder of the keepers' sockets within the state folder.
inline constexpr std::string_view keeper_folder = "programs";

/// A keeper's socket: NAME.INSTANCE.
struct keeper_file {
  std::string runtime;
  unsigned instance = 0;  ///< 0: it is none
  [[nodiscard]] std::string name() const;
};

/// The files in the folder of the sockets; empty if there is no such folder.
[[nodiscard]] std::vector<keeper_file> read_keeper_files(const std::string& state_folder);
/// Orders the keepers for which `is_wanted` returns false to end their programs, and removes files
/// without a keeper. Returns the names of those that got the order. Does not wait.
std::vector<std::string> end_unwanted(
    const std::string& state_folder, const std::vector<keeper_file>& files,
    const std::function<bool(const keeper_file& file)>& is_wanted);

}  // namespace strata::process
