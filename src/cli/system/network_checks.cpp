#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/system/checks.hpp"
#include "process/child.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::cli {

namespace {

check check_socket(int family, const char* name, const char* purpose, const char* capability) {
  const unique_fd fd(::socket(family, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (fd) return {{}, name, "can be opened", ""};
  const int failed = errno;
  return {check_status::warn, name, std::strerror(failed),
          failed == EPERM || failed == EACCES
              ? fmt::format("needed for {}; give the daemon {}", purpose, capability)
              : fmt::format("needed for {}; this kernel is built without it", purpose)};
}

check check_bpf_file_system() {
  struct statfs found{};
  constexpr decltype(found.f_type) bpf_magic = 0xcafe4a11;
  if (::statfs("/sys/fs/bpf", &found) == 0 && found.f_type == bpf_magic) {
    return {{}, "bpffs", "mounted on /sys/fs/bpf", ""};
  }
  return {check_status::warn, "bpffs", "not mounted on /sys/fs/bpf",
          "needed to share XDP programs; 'mount -t bpf bpf /sys/fs/bpf'"};
}

/// An RTM_NEWLINK request, large enough for the links made here.
struct link_request {
  nlmsghdr header{};
  ifinfomsg link{};
  char attributes[256]{};

  link_request() {
    header.nlmsg_len = NLMSG_LENGTH(sizeof link);
    header.nlmsg_type = RTM_NEWLINK;
    header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  }

  rtattr* add(unsigned short type, const void* value, std::size_t size) {
    const auto used = NLMSG_ALIGN(header.nlmsg_len) - sizeof header - sizeof link;
    auto* attribute = reinterpret_cast<rtattr*>(attributes + used);
    attribute->rta_type = type;
    attribute->rta_len = static_cast<unsigned short>(RTA_LENGTH(size));
    if (size > 0) std::memcpy(RTA_DATA(attribute), value, size);
    header.nlmsg_len = NLMSG_ALIGN(header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
    return attribute;
  }

  void close(rtattr* nest) {
    const auto* end = reinterpret_cast<const char*>(&header) + header.nlmsg_len;
    nest->rta_len = static_cast<unsigned short>(end - reinterpret_cast<const char*>(nest));
  }
};

/// Returns 0 or an errno.
int ask_kernel(const link_request& request) {
  const unique_fd route(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!route || ::send(route.get(), &request, request.header.nlmsg_len, 0) < 0) return errno;
  struct {
    nlmsghdr header;
    nlmsgerr verdict;
    char rest[512];
  } answer{};
  if (::recv(route.get(), &answer, sizeof answer, 0) < 0) return errno;
  return answer.header.nlmsg_type == NLMSG_ERROR ? -answer.verdict.error : EPROTO;
}

int make_veth() {
  link_request request;
  request.add(IFLA_IFNAME, "probe0", sizeof "probe0");
  auto* info = request.add(IFLA_LINKINFO, nullptr, 0);
  request.add(IFLA_INFO_KIND, "veth", sizeof "veth");
  request.close(info);
  return ask_kernel(request);
}

int make_vlan() {
  if (const int failed = make_veth(); failed != 0) return failed;
  const unsigned below = ::if_nametoindex("probe0");
  if (below == 0) return errno;
  constexpr std::uint16_t vlan_id = 10;
  link_request request;
  request.add(IFLA_IFNAME, "probe0.10", sizeof "probe0.10");
  request.add(IFLA_LINK, &below, sizeof below);
  auto* info = request.add(IFLA_LINKINFO, nullptr, 0);
  request.add(IFLA_INFO_KIND, "vlan", sizeof "vlan");
  auto* data = request.add(IFLA_INFO_DATA, nullptr, 0);
  request.add(IFLA_VLAN_ID, &vlan_id, sizeof vlan_id);
  request.close(data);
  request.close(info);
  return ask_kernel(request);
}

int make_nothing() { return 0; }

/// Runs `probe` in a child with its own network namespace, so that nothing of it remains. Returns
/// the errno of its end.
int in_new_namespace(int (*probe)()) {
  auto started = process::child::run([probe] {
    const bool apart = ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
    return apart ? probe() : errno;
  });
  if (!started) return started.error().sys_errno;
  const auto ended = started->wait();
  return ended.signal == 0 ? ended.exit_code : EINTR;
}

check check_namespace(const char* name, int (*probe)(), const char* purpose, const char* remedy) {
  const int failed = in_new_namespace(probe);
  if (failed == 0) return {{}, name, "can be created", ""};
  return {check_status::warn, name, std::strerror(failed),
          fmt::format("needed for {}; {}", purpose, remedy)};
}

}  // namespace

std::vector<check> network_checks() {
  return {
      check_socket(AF_PACKET, "AF_PACKET", "l2:// endpoints", "CAP_NET_RAW"),
      check_socket(AF_XDP, "AF_XDP", "xdp:// endpoints", "CAP_NET_RAW"),
      check_bpf_file_system(),
      check_namespace("network namespace", make_nothing, "strata's own tests and the benchmark",
                      "run as root"),
      check_namespace("veth", make_veth, "strata's own tests and the benchmark",
                      "load the module veth"),
      check_namespace("8021q", make_vlan, "VLAN devices (l2:// endpoints tag frames without it)",
                      "load the module 8021q"),
  };
}

}  // namespace strata::cli
