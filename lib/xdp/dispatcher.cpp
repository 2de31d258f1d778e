#include "xdp/dispatcher.hpp"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <xdp/libxdp.h>

#include <array>
#include <cerrno>

#include "xdp/bpf_words.hpp"

namespace strata::xdp {

namespace {

xdp_attach_mode mode_of(bool is_native) { return is_native ? XDP_MODE_NATIVE : XDP_MODE_SKB; }

// libxdp has error numbers of its own besides the system's, and -ENOENT for a missing bpffs.
error libxdp_error(int code, const std::string& name) {
  std::array<char, 128> text{};
  libxdp_strerror(code, text.data(), text.size());
  const bool forbidden = code == -EPERM || code == -EACCES;
  const auto& said = bpf_libraries_said();
  return {.code = forbidden ? errc::permission_denied : errc::system,
          .operation = "join the XDP dispatcher of '" + name + "'",
          .sys_errno = -code,
          .reason = said.empty() ? text.data() : text.data() + (": " + said),
          .remedy = "`xdp-loader status " + name +
                    "` shows which programs share the interface; /sys/fs/bpf must be mounted, "
                    "and the kernel needs BTF and BPF trampolines",
          .offset = {}};
}

}  // namespace

void dispatcher_seat::close_program::operator()(xdp_program* program) const {
  xdp_program__close(program);
}

result<dispatcher_seat> dispatcher_seat::take(bpf_object* object, const char* program,
                                              int interface_index, const std::string& name,
                                              attach_mode mode, bool is_native) {
  listen_to_bpf_libraries();
  if (mode != attach_mode::automatic && (mode == attach_mode::native) != is_native) {
    return failure(errc::conflict, "join the XDP dispatcher of '" + name + "'",
                   std::string("it is attached in ") + (is_native ? "native" : "generic") + " mode",
                   "use that mode, or automatic");
  }
  xdp_program_opts how{};
  how.sz = sizeof how;
  how.obj = object;
  how.prog_name = program;
  auto* const made = xdp_program__create(&how);
  if (const auto code = libxdp_get_error(made); code != 0) {
    return std::unexpected(libxdp_error(static_cast<int>(code), name));
  }
  seated_program seated(made);
  int code = xdp_program__set_chain_call_enabled(made, XDP_PASS, true);
  if (code == 0) code = xdp_program__attach(made, interface_index, mode_of(is_native), 0);
  if (code != 0) return std::unexpected(libxdp_error(code, name));
  return dispatcher_seat(std::move(seated), interface_index, is_native);
}

dispatcher_seat::~dispatcher_seat() {
  // A failure has no remedy: another program has unloaded the dispatcher, or the interface is gone.
  if (seated_) {
    (void)xdp_program__detach(seated_.get(), interface_index_, mode_of(is_native_), 0);
  }
}

}  // namespace strata::xdp
