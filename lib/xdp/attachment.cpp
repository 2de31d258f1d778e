#include "xdp/attachment.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

#include "strata/base/unique_fd.hpp"

namespace strata::xdp {

namespace {

// The name of libxdp's dispatcher function, which the kernel reports.
constexpr std::string_view dispatcher_name = "xdp_dispatcher";

// Does not use if_nametoindex, which returns ENOENT if no descriptor is left for its query.
result<ifreq> ask_of(const std::string& name, unsigned long what, std::string operation) {
  const unique_fd asked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!asked) return system_failure(errno, std::move(operation));
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (name.size() < IFNAMSIZ && ::ioctl(asked.get(), what, &request) == 0) return request;
  return failure(errc::not_found, std::move(operation), "no interface has this name",
                 "list interfaces with: ip link");
}

}  // namespace

result<int> index_of(const std::string& name, std::string operation) {
  const auto reported = ask_of(name, SIOCGIFINDEX, std::move(operation));
  if (!reported) return std::unexpected(reported.error());
  return reported->ifr_ifindex;
}

result<std::uint32_t> mtu_of(const std::string& name, std::string operation) {
  const auto reported = ask_of(name, SIOCGIFMTU, std::move(operation));
  if (!reported) return std::unexpected(reported.error());
  return static_cast<std::uint32_t>(reported->ifr_mtu);
}

result<std::optional<attached_program>> attached_at(int index, const std::string& name) {
  const auto what = "query the XDP program of '" + name + "'";
  bpf_xdp_query_opts found{};
  found.sz = sizeof found;
  if (const int code = bpf_xdp_query(index, 0, &found); code != 0) {
    return system_failure(-code, what);
  }
  attached_program there{.id = found.drv_prog_id, .name = "?", .mode = attach_mode::native};
  if (there.id == 0) there = {.id = found.skb_prog_id, .name = "?", .mode = attach_mode::generic};
  if (there.id == 0) there = {.id = found.hw_prog_id, .name = "?", .mode = attach_mode::hardware};
  if (there.id == 0) return std::nullopt;
  const unique_fd opened(bpf_prog_get_fd_by_id(there.id));
  if (!opened && (errno == EMFILE || errno == ENFILE)) return system_failure(errno, what);
  bpf_prog_info info{};
  __u32 size = sizeof info;
  if (opened && bpf_obj_get_info_by_fd(opened.get(), &info, &size) == 0) there.name = info.name;
  return there;
}

// Recognizes the dispatcher by its name: libxdp 1.3.1 leaks a descriptor each time it examines an
// interface with another owner's single program.
result<std::optional<attached_program>> dispatcher_at(int index, const std::string& name) {
  auto there = attached_at(index, name);
  if (there && *there && (*there)->name != dispatcher_name) there->reset();
  return there;
}

const char* text_of(attach_mode mode) {
  switch (mode) {
    case attach_mode::native: return "native";
    case attach_mode::generic: return "generic";
    case attach_mode::hardware: return "hardware";
    default: return "automatic";
  }
}

error conflict_at(const std::string& name, int code) {
  const auto other = attached_to(name);
  error made{.code = errc::conflict,
             .operation = "attach an XDP program to '" + name + "'",
             .sys_errno = code,
             .reason = "another program is attached",
             .remedy = "stop its owner or detach it: ip link set dev " + name + " xdp off",
             .offset = {}};
  if (other && *other) {
    made.reason = "the program '" + (*other)->name + "' (" + std::to_string((*other)->id) + ", " +
                  text_of((*other)->mode) + ") is attached";
  }
  return made;
}

}  // namespace strata::xdp
