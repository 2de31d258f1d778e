#include "process/control_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "process/pipe.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::process {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view controllers[] = {"cpu", "memory", "pids"};
constexpr auto period_us = 100'000;  // of cpu.max, the kernel's default
constexpr std::string_view own_part = "/daemon";

result<void> write_to(const std::string& path, std::string_view text) {
  const unique_fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const bool is_written =
      file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!is_written) return system_failure(errno, fmt::format("write '{}' to {}", text, path));
  return {};
}

std::string text_of(const std::string& path) {
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? read_all(file.get()) : std::string();
}

struct limit_file {
  std::string_view controller;
  std::string_view file;
  std::string_view flag;
  std::string value;
};

std::array<limit_file, 3> files_of(const group_limits& limits) {
  const auto quota = static_cast<std::uint64_t>(limits.processors * period_us);
  return {limit_file{"memory", "memory.max", "--memory",
                     limits.memory == 0 ? "max" : std::to_string(limits.memory)},
          limit_file{"cpu", "cpu.max", "--cpus",
                     quota == 0 ? "max" : fmt::format("{} {}", quota, period_us)},
          limit_file{"pids", "pids.max", "--tasks",
                     limits.tasks == 0 ? "max" : std::to_string(limits.tasks)}};
}

result<void> limit(const std::string& path, const limit_file& rule) {
  const auto file = fmt::format("{}/{}", path, rule.file);
  if (::access(file.c_str(), F_OK) == 0) return write_to(file, rule.value);
  if (rule.value == "max") return {};
  return failure(errc::not_supported, fmt::format("limit the control group {}", path),
                 fmt::format("the groups above it have no controller '{}'", rule.controller),
                 fmt::format("leave {} out, or add it to their cgroup.subtree_control", rule.flag));
}

bool is_delegated(const std::string& path) {
  for (const auto* const name : {"trusted.delegate", "user.delegate"}) {
    char value = 0;
    if (::getxattr(path.c_str(), name, &value, 1) == 1 && value == '1') return true;
  }
  return false;
}

// Where cgroup2 is mounted: by systemd, alone or beside version 1.
std::string mount_point() {
  for (const auto* const each : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    struct statfs found{};
    if (::statfs(each, &found) == 0 && found.f_type == CGROUP2_SUPER_MAGIC) return each;
  }
  return {};
}

// This process' group of version 2, the line `0::/path`; empty if there is none.
std::string own_group() {
  std::istringstream lines(text_of("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return {};
}

// One that ends meanwhile is not moved. New ones are children of these, and may be in either group.
result<void> move_all(const std::string& group, const std::string& target) {
  for (int rounds = 0; rounds < 10; ++rounds) {
    const auto ids = text_of(group + "/cgroup.procs");
    if (ids.empty()) return {};
    std::istringstream lines(ids);
    for (std::string id; std::getline(lines, id);) {
      auto moved = write_to(target + "/cgroup.procs", id);
      if (!moved && moved.error().sys_errno != ESRCH) return moved;
    }
  }
  return failure(errc::timed_out, "empty the control group " + group, "it gets new processes");
}

std::string& used_folder() {
  static std::string folder;
  return folder;
}

// Empty if none is delegated.
result<std::string> take_delegated_group() {
  const auto mounted = mount_point();
  auto own = own_group();
  if (mounted.empty() || own.empty()) return std::string();
  // A daemon that takes over is started in the part of the one before it.
  const bool is_taken = own.ends_with(own_part);
  if (is_taken) own.resize(own.size() - own_part.size());
  auto folder = mounted + own;
  if (!is_delegated(folder)) return std::string();
  const auto part = folder + std::string(own_part);
  if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) {
    return system_failure(errno, "make the control group " + part);
  }
  if (auto moved = move_all(folder, part); !moved) return std::unexpected(moved.error());
  return folder;
}

result<void> open_group_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return system_failure(errno, "make the control group " + folder);
  }
  struct statfs found{};
  if (::statfs(folder.c_str(), &found) != 0) return system_failure(errno, "look at " + folder);
  if (found.f_type != CGROUP2_SUPER_MAGIC) {
    return failure(errc::invalid_argument, "use the control group " + folder,
                   "it is not a folder of cgroup2's",
                   "give a path such as /sys/fs/cgroup/strata; 'findmnt -t cgroup2' shows where "
                   "they begin");
  }
  const auto parent = fs::path(folder).parent_path().string();
  for (const auto each : controllers) {
    const auto enabled = fmt::format("+{}", each);
    // Those above may lack it, or have processes of their own: then no group can have its limits.
    (void)write_to(parent + "/cgroup.subtree_control", enabled);
    (void)write_to(folder + "/cgroup.subtree_control", enabled);
  }
  std::error_code unreadable;
  for (const auto& each : fs::directory_iterator(folder, unreadable)) {
    if (each.is_directory(unreadable) && each.path().filename() != own_part.substr(1)) {
      (void)::rmdir(each.path().c_str());
    }
  }
  return {};
}

}  // namespace

result<std::optional<control_group>> control_group::make(const std::string& name,
                                                         const group_limits& limits) {
  if (group_folder().empty() && limits.is_unlimited()) return std::nullopt;
  if (group_folder().empty()) {
    return failure(errc::not_supported, fmt::format("limit the control group '{}'", name),
                   "the daemon has no folder for such groups",
                   "leave --memory, --cpus and --tasks out, or give the daemon one: strata daemon "
                   "--cgroup /sys/fs/cgroup/strata, or Delegate=yes in its unit of systemd");
  }
  const auto path = fmt::format("{}/{}", group_folder(), name);
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return system_failure(errno, "make the control group " + path);
  }
  for (const auto& each : files_of(limits)) {
    if (auto limited = limit(path, each); !limited) {
      (void)::rmdir(path.c_str());
      return std::unexpected(limited.error());
    }
  }
  return control_group(path);
}

std::optional<control_group> control_group::find(const std::string& name) {
  auto path = fmt::format("{}/{}", group_folder(), name);
  if (group_folder().empty() || ::access(path.c_str(), F_OK) != 0) return std::nullopt;
  return control_group(std::move(path));
}

std::uint64_t control_group::killed_for_memory() const {
  std::istringstream lines(text_of(path_ + "/memory.events"));
  constexpr std::string_view key = "oom_kill ";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  }
  return 0;
}

void control_group::kill() const { (void)write_to(path_ + "/cgroup.kill", "1"); }

bool control_group::remove() const { return ::rmdir(path_.c_str()) == 0 || errno != EBUSY; }

const std::string& group_folder() { return used_folder(); }

result<void> use_group_folder(std::string folder) {
  if (folder.empty()) {
    auto delegated = take_delegated_group();
    if (!delegated) return std::unexpected(delegated.error());
    folder = std::move(*delegated);
  }
  if (folder.empty()) return {};
  if (auto opened = open_group_folder(folder); !opened) return opened;
  used_folder() = std::move(folder);
  return {};
}

}  // namespace strata::process
