#include "measure/remote/remote_shell_library.hpp"

#include <dlfcn.h>

namespace strata::measure {

namespace {

constexpr auto file = "libssh.so.4";
#ifdef STRATA_STATIC
constexpr bool is_static = true;
#else
constexpr bool is_static = false;
#endif

result<ssh_library> open_library() {
  if constexpr (is_static) {
    return failure(errc::not_supported, "load libssh", "this strata is statically linked",
                   "run a dynamically linked one");
  }
  const auto missing = [] {
    const char* const why = ::dlerror();
    return failure(errc::not_found, "load libssh", why != nullptr ? why : "",
                   "install it: apt-get install libssh-4");
  };
  void* const opened = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return missing();
  ssh_library made;
#define STRATA_SSH_LOAD(name)                                                \
  made.name = reinterpret_cast<decltype(made.name)>(::dlsym(opened, #name)); \
  if (made.name == nullptr) return missing();
  STRATA_SSH_FUNCTIONS(STRATA_SSH_LOAD)
#undef STRATA_SSH_LOAD
  return made;
}

const result<ssh_library>& library() {
  static const auto only = open_library();
  return only;
}

}  // namespace

result<void> load_libssh() {
  if (!library()) return std::unexpected(library().error());
  return {};
}

const ssh_library& libssh() { return *library(); }

}  // namespace strata::measure
