#include "strata/xdp/own_program.hpp"

#include <bpf/bpf.h>
#include <linux/if_link.h>

#include <array>
#include <cerrno>
#include <string>

#include "strata/xdp/socket.hpp"
#include "xdp/attachment.hpp"

namespace strata::xdp {

namespace {

struct way {
  attach_mode mode;
  unsigned flags;
};

constexpr std::array ways{way{attach_mode::native, XDP_FLAGS_DRV_MODE},
                          way{attach_mode::generic, XDP_FLAGS_SKB_MODE},
                          way{attach_mode::hardware, XDP_FLAGS_HW_MODE}};

}  // namespace

result<own_program> own_program::attach(std::string_view interface_name, int program_fd,
                                        attach_mode mode) {
  const std::string name(interface_name);
  const auto what = "attach your own XDP program to '" + name + "' in " + text_of(mode) + " mode";
  const auto index = index_of(name, what);
  if (!index) return std::unexpected(index.error());
  int code = EOPNOTSUPP;
  for (const auto& each : ways) {
    const bool is_tried =
        mode == each.mode || (mode == attach_mode::automatic && each.mode != attach_mode::hardware);
    if (!is_tried) continue;
    bpf_link_create_opts how{};
    how.sz = sizeof how;
    how.flags = each.flags;
    unique_fd link(bpf_link_create(program_fd, *index, BPF_XDP, &how));
    if (link) return own_program(std::move(link), each.mode);
    code = errno;
    if (code == EBUSY || code == EEXIST) return std::unexpected(conflict_at(name, code));
  }
  auto failed = system_error(code, what,
                             code == EBADF || code == EINVAL
                                 ? "check that the descriptor is an XDP program's for this mode"
                                 : "generic mode works with every driver");
  if (code == EBADF || code == EINVAL) failed.code = errc::invalid_argument;
  if (code == EOPNOTSUPP) failed.code = errc::not_supported;
  return std::unexpected(std::move(failed));
}

result<void> enter_in_map(int map_fd, const socket& socket, std::optional<std::uint32_t> key) {
  const auto at = key.value_or(socket.queue());
  const int fd = socket.fd();
  if (bpf_map_update_elem(map_fd, &at, &fd, BPF_ANY) == 0) return {};
  return system_failure(errno, "add an AF_XDP socket to a map at index " + std::to_string(at),
                        "the map must be an XSKMAP with more entries than this index");
}

}  // namespace strata::xdp
