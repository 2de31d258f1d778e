#include "paths/machine.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <fstream>
#include <thread>

#include "strata/base/unique_fd.hpp"

namespace strata::paths {

namespace {

// The value of the first line of /proc/cpuinfo that begins with `key`.
std::string cpu_field(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string name;
  if (std::getline(file, name)) return name;
  return "unknown (no cpufreq here, as in most virtual machines)";
}

}  // namespace

nlohmann::json describe_machine() {
  utsname names{};
  ::uname(&names);
  const auto cpu = cpu_field("model name");
  const bool virtual_machine = cpu_field("flags").contains(" hypervisor");
  return {{"kernel", names.release},
          {"architecture", names.machine},
          {"cpu", cpu.empty() ? "unknown" : cpu},
          {"cores", std::thread::hardware_concurrency()},
          {"governor", governor()},
          {"virtual_machine", virtual_machine}};
}

nlohmann::json describe_offloads(const std::string& link) {
  struct row {
    const char* name;
    std::uint32_t command;
  };
  constexpr row rows[] = {
      {"rx_checksum", ETHTOOL_GRXCSUM},
      {"tx_checksum", ETHTOOL_GTXCSUM},
      {"scatter_gather", ETHTOOL_GSG},
      {"tso", ETHTOOL_GTSO},
      {"gso", ETHTOOL_GGSO},
      {"gro", ETHTOOL_GGRO},
  };
  const unique_fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  auto all = nlohmann::json::object();
  for (const auto& each : rows) {
    ethtool_value value{.cmd = each.command, .data = 0};
    ifreq request{};
    link.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    const bool told = ::ioctl(fd.get(), SIOCETHTOOL, &request) == 0;
    all[each.name] = told ? nlohmann::json(value.data != 0) : nlohmann::json(nullptr);
  }
  return all;
}

}  // namespace strata::paths
