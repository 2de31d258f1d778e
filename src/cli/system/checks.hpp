// What `strata doctor` looks at. Each check tries the thing itself where it can: a kernel's version
// does not tell what a container forbids.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace strata::cli {

enum class check_status : std::uint8_t {
  ok,
  warn,  ///< strata runs, without what the check names
  fail,  ///< strata does not run
};

struct check {
  check_status status = check_status::ok;
  std::string name;
  std::string found;
  std::string remedy;  ///< empty when there is nothing to do
};

/// The kernel's version, io_uring, limits of the process and its capabilities.
[[nodiscard]] std::vector<check> kernel_checks();

/// Sockets of packets and of XDP, the BPF file system, virtual links.
[[nodiscard]] std::vector<check> network_checks();

/// The daemon or a runtime, and its certificates as the control API has them.
struct certificate_owner {
  std::string name;
  nlohmann::json certificates;
};

/// Those that have expired, or will within 14 days; else one that says that all is well, if there
/// are any.
[[nodiscard]] std::vector<check> certificate_checks(const std::vector<certificate_owner>& owners);

struct kernel_version {
  unsigned major = 0;
  unsigned minor = 0;
  auto operator<=>(const kernel_version&) const = default;
};

/// "6.1.0-13-amd64" is 6.1; 0.0 when the text says nothing of the kind.
[[nodiscard]] kernel_version parse_kernel_version(const std::string& release);

/// Whether a folder can be written, or made where it does not exist yet. `flag` names another.
[[nodiscard]] check check_folder(std::string name, const std::string& folder,
                                 const std::string& flag);

}  // namespace strata::cli
