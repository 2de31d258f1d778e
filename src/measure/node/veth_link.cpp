#include "measure/node/veth_link.hpp"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "measure/ends/inet_socket.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::measure {

namespace {

// Builds a netlink request: attributes, some nested in others.
class link_request {
 public:
  link_request() : bytes_(NLMSG_ALIGN(sizeof(nlmsghdr))) { add_info(); }

  void add_info() { bytes_.resize(bytes_.size() + NLMSG_ALIGN(sizeof(ifinfomsg))); }
  void add(unsigned short type, const void* value, std::size_t size) {
    const auto at = open(type);
    bytes_.resize(bytes_.size() + size);
    std::memcpy(bytes_.data() + bytes_.size() - size, value, size);
    close(at);
  }
  void add(unsigned short type, const std::string& value) {
    add(type, value.c_str(), value.size() + 1);
  }
  std::size_t open(unsigned short type) {
    const auto at = bytes_.size();
    bytes_.resize(at + RTA_LENGTH(0));
    const rtattr head{.rta_len = 0, .rta_type = type};
    std::memcpy(bytes_.data() + at, &head, sizeof head);
    return at;
  }
  void close(std::size_t offset) {
    const auto size = static_cast<unsigned short>(bytes_.size() - offset);
    std::memcpy(bytes_.data() + offset, &size, sizeof size);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  }

  std::vector<std::byte>& finish() {
    const nlmsghdr head{.nlmsg_len = static_cast<std::uint32_t>(bytes_.size()),
                        .nlmsg_type = RTM_NEWLINK,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
                        .nlmsg_seq = 1,
                        .nlmsg_pid = 0};
    std::memcpy(bytes_.data(), &head, sizeof head);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

// Returns 0, or the errno of the answer.
int exchange(const std::vector<std::byte>& request) {
  const unique_fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd || ::send(fd.get(), request.data(), request.size(), 0) < 0) return errno;
  alignas(nlmsghdr) std::array<std::byte, 8192> memory;
  const auto got = ::recv(fd.get(), memory.data(), memory.size(), 0);
  if (got < 0) return errno;
  nlmsghdr head{};
  nlmsgerr answer{};
  if (static_cast<std::size_t>(got) < NLMSG_HDRLEN + sizeof answer) return EPROTO;
  std::memcpy(&head, memory.data(), sizeof head);
  std::memcpy(&answer, memory.data() + NLMSG_HDRLEN, sizeof answer);
  return head.nlmsg_type == NLMSG_ERROR ? -answer.error : EPROTO;
}

ifreq request_for(const std::string& link) {
  ifreq request{};
  link.copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

result<void> control(unsigned long what, void* request, std::string operation) {
  const unique_fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd || ::ioctl(fd.get(), what, request) != 0) {
    return system_failure(errno, std::move(operation));
  }
  return {};
}

result<void> set_address(const std::string& link, unsigned long what, const std::string& address) {
  const auto value = inet_address(address, 0);
  if (!value) return std::unexpected(value.error());
  auto request = request_for(link);
  std::memcpy(&request.ifr_addr, &*value, sizeof *value);
  return control(what, &request, "add the address " + address + " to " + link);
}

}  // namespace

result<void> enter_new_namespace() {
  if (::unshare(CLONE_NEWNET) == 0) return {};
  const int code = errno;
  return system_failure(code, "create a network namespace",
                        code == EPERM ? "run it as root (CAP_SYS_ADMIN, CAP_NET_ADMIN and "
                                        "CAP_NET_RAW), or measure an interface with --iface"
                                      : "");
}

result<void> make_veth(const std::string& here, const std::string& there, pid_t peer) {
  link_request request;
  request.add(IFLA_IFNAME, here);
  const auto info = request.open(IFLA_LINKINFO);
  request.add(IFLA_INFO_KIND, std::string("veth"));
  const auto data = request.open(IFLA_INFO_DATA);
  const auto other = request.open(VETH_INFO_PEER);
  request.add_info();
  request.add(IFLA_IFNAME, there);
  const auto process = static_cast<std::uint32_t>(peer);
  request.add(IFLA_NET_NS_PID, &process, sizeof process);
  request.close(other);
  request.close(data);
  request.close(info);
  const int code = exchange(request.finish());
  if (code == 0) return {};
  return system_failure(code, "create the veth " + here + " - " + there,
                        code == EPERM ? "run it as root (CAP_NET_ADMIN)" : "");
}

result<void> configure_link(const std::string& link, const std::string& address) {
  // The file does not exist if the kernel has no IPv6.
  std::ofstream("/proc/sys/net/ipv6/conf/" + link + "/disable_ipv6") << 1;
  if (auto done = set_address(link, SIOCSIFADDR, address); !done) return done;
  if (auto done = set_address(link, SIOCSIFNETMASK, "255.255.255.0"); !done) return done;
  auto request = request_for(link);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return control(SIOCSIFFLAGS, &request, "set " + link + " up");
}

result<void> set_mtu(const std::string& link, std::uint32_t mtu) {
  auto request = request_for(link);
  request.ifr_mtu = static_cast<int>(mtu);
  return control(SIOCSIFMTU, &request, "set the MTU of " + link + " to " + std::to_string(mtu));
}

result<void> set_neighbour(const std::string& link, const std::string& address,
                           const mac_address& mac) {
  const auto value = inet_address(address, 0);
  if (!value) return std::unexpected(value.error());
  arpreq request{};
  std::memcpy(&request.arp_pa, &*value, sizeof *value);
  request.arp_ha.sa_family = ARPHRD_ETHER;
  std::ranges::copy(mac.octets(), request.arp_ha.sa_data);
  request.arp_flags = ATF_COM | ATF_PERM;
  link.copy(request.arp_dev, sizeof request.arp_dev - 1);
  return control(SIOCSARP, &request, "set the MAC address of " + address);
}

interface_drops drops_of(std::string_view link) {
  std::ifstream file("/proc/self/net/dev");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto name = line.find_first_not_of(' ');
    if (std::string_view(line).substr(name, colon - name) != link) continue;
    // Eight counters of received frames, then eight of sent ones; the fourth of each counts drops.
    std::istringstream fields(line.substr(colon + 1));
    std::array<std::uint64_t, 16> counts{};
    for (auto& count : counts) fields >> count;
    return {.received = counts[3], .sent = counts[11]};
  }
  return {};
}

}  // namespace strata::measure
