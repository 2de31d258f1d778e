#include "strata/l2/interface.hpp"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "strata/base/unique_fd.hpp"

namespace strata::l2 {

namespace {

constexpr std::string_view list_remedy = "list interfaces with: ip link";

struct asker {
  unique_fd fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq request{};

  explicit asker(std::string_view name) { name.copy(request.ifr_name, IFNAMSIZ - 1); }
  bool ask(unsigned long what) { return ::ioctl(fd.get(), what, &request) == 0; }
};

std::uint32_t count_queues(const std::string& name, std::string_view kind) {
  std::error_code ignored;
  std::uint32_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/sys/class/net/" + name + "/queues", ignored)) {
    if (entry.path().filename().string().starts_with(kind)) ++count;
  }
  return std::max(count, 1U);
}

}  // namespace

bool interface::is_up() const { return (flags & IFF_UP) != 0; }
bool interface::is_running() const { return is_up() && (flags & IFF_RUNNING) != 0; }
bool interface::is_loopback() const { return (flags & IFF_LOOPBACK) != 0; }

result<interface> interface::query(std::string_view name) {
  const std::string operation = "find interface '" + std::string(name) + "'";
  if (name.empty() || name.size() >= IFNAMSIZ || name.contains('/') || name.contains('\0')) {
    return failure(errc::invalid_argument, operation, "names have 1 to 15 characters and no '/'",
                   std::string(list_remedy));
  }
  asker of(name);
  if (!of.fd) return system_failure(errno, operation);
  if (!of.ask(SIOCGIFINDEX)) return system_failure(errno, operation, std::string(list_remedy));
  interface found{.name = std::string(name), .index = of.request.ifr_ifindex, .mac = {}};
  if (!of.ask(SIOCGIFFLAGS)) return system_failure(errno, operation, std::string(list_remedy));
  found.flags = static_cast<unsigned short>(of.request.ifr_flags);
  if (!of.ask(SIOCGIFMTU)) return system_failure(errno, operation, std::string(list_remedy));
  found.mtu = static_cast<std::uint32_t>(of.request.ifr_mtu);
  if (of.ask(SIOCGIFHWADDR)) {
    std::array<std::byte, mac_address::size> bytes;
    std::memcpy(bytes.data(), of.request.ifr_hwaddr.sa_data, bytes.size());
    found.mac = mac_address(bytes);
  }
  found.rx_queues = count_queues(found.name, "rx-");
  found.tx_queues = count_queues(found.name, "tx-");
  return found;
}

result<std::vector<interface>> interface::list() {
  struct names {
    struct if_nameindex* all = ::if_nameindex();
    names() = default;
    names(const names&) = delete;
    names& operator=(const names&) = delete;
    ~names() {
      if (all != nullptr) ::if_freenameindex(all);
    }
  } const found;
  if (found.all == nullptr) return system_failure(errno, "list the interfaces");
  std::vector<interface> listed;
  for (const auto* each = found.all; each->if_index != 0; ++each) {
    // An interface that was removed meanwhile is left out.
    if (auto known = query(each->if_name)) listed.push_back(std::move(*known));
  }
  std::ranges::sort(listed, {}, &interface::index);
  return listed;
}

result<interface> interface::loopback() {
  auto all = list();
  if (!all) return std::unexpected(all.error());
  const auto found = std::ranges::find_if(*all, &interface::is_loopback);
  if (found != all->end()) return std::move(*found);
  return failure(errc::not_found, "find the loopback interface", "this namespace has none");
}

}  // namespace strata::l2
