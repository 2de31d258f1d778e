#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/io_uring.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/system/checks.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/readable.hpp"

namespace strata::cli {

namespace {

constexpr kernel_version least_kernel{6, 1};

kernel_version running_kernel() {
  utsname name{};
  return ::uname(&name) == 0 ? parse_kernel_version(name.release) : kernel_version{};
}

check check_kernel() {
  utsname name{};
  ::uname(&name);
  const auto found = fmt::format("{} {}", name.release, name.machine);
  if (parse_kernel_version(name.release) >= least_kernel) return {{}, "kernel", found, ""};
  return {check_status::fail, "kernel", found,
          "strata needs Linux 6.1 or newer (Debian 12 has it)"};
}

std::string why_no_ring(int failed) {
  std::string disabled;
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
  std::string why = std::strerror(failed);
  if (disabled.empty() || disabled == "0") return why;
  return fmt::format("{}; sysctl kernel.io_uring_disabled is {}", why, disabled);
}

check check_io_uring() {
  io_uring_params params{};
  params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
  constexpr unsigned entries = 8;
  const unique_fd ring(static_cast<int>(::syscall(__NR_io_uring_setup, entries, &params)));
  if (ring) return {{}, "io_uring", "permitted, with DEFER_TASKRUN and SINGLE_ISSUER", ""};
  const int failed = errno;
  const auto* remedy =
      failed == EPERM
          ? "strata runs on epoll instead; to permit io_uring: 'sysctl "
            "kernel.io_uring_disabled=0', and in a container a seccomp profile that permits "
            "io_uring_setup"
          : "strata runs on epoll instead; io_uring needs Linux 6.1 or newer, built with io_uring";
  return {check_status::warn, "io_uring", why_no_ring(failed), remedy};
}

/// Features that the loop uses if available, and the kernel that introduced them.
check check_io_uring_features() {
  struct feature {
    kernel_version since;
    const char* name;
  };
  constexpr feature features[] = {{{5, 19}, "multishot accept"},
                                  {{5, 19}, "provided buffer rings"},
                                  {{6, 0}, "multishot receive"},
                                  {{6, 0}, "zero-copy send"}};
  std::vector<std::string> there, absent;
  for (const auto& [since, name] : features) {
    (running_kernel() >= since ? there : absent).emplace_back(name);
  }
  if (absent.empty()) {
    return {{}, "io_uring features", fmt::format("{}", fmt::join(there, ", ")), ""};
  }
  return {check_status::warn, "io_uring features",
          fmt::format("this kernel lacks {}", fmt::join(absent, ", ")), "use a newer kernel"};
}

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{}", limit);
}

check check_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto found =
      fmt::format("{} (hard limit {})", limit_text(limit.rlim_cur), limit_text(limit.rlim_max));
  constexpr rlim_t plenty = 65536;
  if (limit.rlim_cur >= plenty) return {{}, "open files", found, ""};
  return {check_status::warn, "open files", found,
          "each connection needs one; raise the limit with 'ulimit -n 65536', or LimitNOFILE= in "
          "the systemd unit"};
}

check check_locked_memory() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const auto found = limit.rlim_cur == RLIM_INFINITY
                         ? std::string("unlimited")
                         : text::format_size(static_cast<double>(limit.rlim_cur));
  constexpr rlim_t plenty = 64U << 20U;
  if (limit.rlim_cur >= plenty) return {{}, "locked memory", found, ""};
  return {check_status::warn, "locked memory", found,
          "AF_XDP locks its frames in memory (16MiB for 4096 of 4KiB); raise the limit with "
          "'ulimit -l', or LimitMEMLOCK= in the systemd unit"};
}

std::uint64_t effective_capabilities() {
  std::ifstream status("/proc/self/status");
  for (std::string field; status >> field;) {
    std::uint64_t mask = 0;
    if (field == "CapEff:" && status >> std::hex >> mask) return mask;
  }
  return 0;
}

check check_capability(unsigned bit, const char* name, const char* purpose) {
  const bool held = (effective_capabilities() >> bit & 1U) != 0;
  if (held) return {{}, name, fmt::format("held: {}", purpose), ""};
  std::error_code unreadable;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unreadable).string();
  std::string lower(name);
  for (auto& letter : lower) letter = static_cast<char>(letter == '_' ? '_' : letter | 0x20);
  return {check_status::warn, name, fmt::format("missing: {}", purpose),
          fmt::format("'setcap {}+ep {}', or AmbientCapabilities={} in the systemd unit", lower,
                      program, name)};
}

}  // namespace

kernel_version parse_kernel_version(const std::string& release) {
  kernel_version version;
  const char* const end = release.data() + release.size();
  const auto [dot, wrong] = std::from_chars(release.data(), end, version.major);
  if (wrong != std::errc{} || dot == end || *dot != '.') return {};
  if (std::from_chars(dot + 1, end, version.minor).ec != std::errc{}) return {};
  return version;
}

std::vector<check> kernel_checks() {
  return {
      check_kernel(),
      check_io_uring(),
      check_io_uring_features(),
      check_open_files(),
      check_locked_memory(),
      check_capability(CAP_NET_RAW, "CAP_NET_RAW", "l2:// endpoints (AF_PACKET)"),
      check_capability(CAP_NET_ADMIN, "CAP_NET_ADMIN", "xdp:// endpoints, links, promiscuity"),
      check_capability(CAP_BPF, "CAP_BPF", "xdp:// endpoints (loading their program)"),
  };
}

check check_folder(std::string name, const std::string& folder, const std::string& flag) {
  namespace fs = std::filesystem;
  std::error_code unreadable;
  fs::path there = fs::absolute(folder, unreadable);
  while (!there.empty() && !fs::exists(there, unreadable) && there != there.parent_path()) {
    there = there.parent_path();
  }
  const bool exists = there == fs::absolute(folder, unreadable);
  const bool good =
      fs::is_directory(there, unreadable) && ::access(there.c_str(), W_OK | X_OK) == 0;
  if (good) {
    return {{},
            std::move(name),
            exists ? folder : fmt::format("{}, will be created in {}", folder, there.string()),
            ""};
  }
  return {check_status::fail, std::move(name),
          fmt::format("{}: {} cannot be written", folder, there.string()),
          fmt::format("run as another user, or name another folder with {}", flag)};
}

}  // namespace strata::cli
