#include "xdp/bpf_words.hpp"

#include <bpf/libbpf.h>
#include <xdp/libxdp.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace strata::xdp {

namespace {

thread_local std::string said;

void keep(const char* format, va_list arguments) {
  std::array<char, 512> line;
  std::vsnprintf(line.data(), line.size(), format, arguments);
  said += line.data();
}

int keep_of_libbpf(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_WARN) keep(format, arguments);
  return 0;
}

int keep_of_libxdp(libxdp_print_level level, const char* format, va_list arguments) {
  if (level == LIBXDP_WARN) keep(format, arguments);
  return 0;
}

}  // namespace

void listen_to_bpf_libraries() {
  static std::once_flag once;
  std::call_once(once, [] {
    libbpf_set_print(keep_of_libbpf);
    libxdp_set_print(keep_of_libxdp);
  });
  said.clear();
}

const std::string& bpf_libraries_said() { return said; }

}  // namespace strata::xdp
