// The checks of `strata doctor`. Each check tries the feature itself if it can: a kernel's version
// does not show what a container forbids.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace strata::cli {

enum class check_status : std::uint8_t {
  ok,
  warn,  ///< strata works, without what the check names
  fail,  ///< strata does not work
};

struct check {
  check_status status = check_status::ok;
  std::string name;
  std::string found;
  std::string remedy;  ///< empty if there is nothing to do
};

/// The kernel's version, io_uring, limits of the process and its capabilities.
[[nodiscard]] std::vector<check> kernel_checks();

/// Packet and XDP sockets, the BPF file system, virtual links.
[[nodiscard]] std::vector<check> network_checks();

/// The daemon or a runtime, and its certificates in the form of the control API.
struct certificate_owner {
  std::string name;
  nlohmann::json certificates;
};

/// The certificates that have expired, or will within 14 days; otherwise a check that all are
/// valid, if there are any.
[[nodiscard]] std::vector<check> certificate_checks(const std::vector<certificate_owner>& owners);

struct kernel_version {
  unsigned major = 0;
  unsigned minor = 0;
  auto operator<=>(const kernel_version&) const = default;
};

/// Parses "6.1.0-13-amd64" as 6.1; 0.0 if the text has no version.
[[nodiscard]] kernel_version parse_kernel_version(const std::string& release);

/// Whether a folder can be written, or created if it does not exist yet. `flag` sets another
/// folder.
[[nodiscard]] check check_folder(std::string name, const std::string& folder,
                                 const std::string& flag);

}  // namespace strata::cli
