// Control groups, version 2: what one of them contains is limited together and ended together, also
// what has left its process group. Source: the kernel's admin-guide/cgroup-v2.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "strata/base/result.hpp"

namespace strata::process {

/// 0: no limit.
struct group_limits {
  std::uint64_t memory = 0;  ///< in bytes, that of the page cache and the kernel included
  double processors = 0;     ///< 1.5: all together use one processor and a half
  std::uint64_t tasks = 0;   ///< processes and threads

  [[nodiscard]] bool is_unlimited() const { return memory == 0 && processors == 0 && tasks == 0; }
};

class control_group {
 public:
  /// Makes a group of `group_folder()`, or takes the one that is there, and sets its limits;
  /// nullopt if there is no such folder, and no limit. Errors: not_supported if the folder, or the
  /// controller of a limit, is missing; those of the system.
  [[nodiscard]] static result<std::optional<control_group>> make(const std::string& name,
                                                                 const group_limits& limits);
  /// Nullopt if there is no such group.
  [[nodiscard]] static std::optional<control_group> find(const std::string& name);

  /// The file to which a process writes its id to join.
  [[nodiscard]] std::string door() const { return path_ + "/cgroup.procs"; }
  /// How many of its processes the kernel has killed because they needed more than `memory`.
  [[nodiscard]] std::uint64_t killed_for_memory() const;
  /// Kills all that it contains (Linux 5.14).
  void kill() const;
  /// Removes the group. Returns false as long as something runs in it.
  [[nodiscard]] bool remove() const;

 private:
  explicit control_group(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

/// The folder of the groups of this process' programs; empty if they have none.
[[nodiscard]] const std::string& group_folder();

/// Makes `folder` the one above, before the first program is started; empty: the group that a
/// service manager has delegated to this process (`Delegate=`, systemd.resource-control(5)), if
/// any. All of its processes are then moved to a group `daemon` within it, since a group has either
/// processes or limited groups. Groups that an earlier process has left empty are removed. Errors:
/// the folder is not one of cgroup2's; those of the system.
[[nodiscard]] result<void> use_group_folder(std::string folder);

}  // namespace strata::process
