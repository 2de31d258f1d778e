#include "loop/backends/backend.hpp"

#include "loop/backends/epoll_loop.hpp"
#include "loop/backends/uring_loop.hpp"

namespace strata::loop {

result<backend_kind> parse_backend(std::string_view text) {
  if (text == "auto" || text.empty()) return backend_kind::automatic;
  if (text == "io_uring") return backend_kind::io_uring;
  if (text == "epoll") return backend_kind::epoll;
  return failure(errc::invalid_argument, "use loop '" + std::string(text) + "'",
                 "there is no such backend", "use auto, io_uring or epoll");
}

result<std::unique_ptr<loop>> make_loop(backend_kind kind, std::string* why_not) {
  if (kind == backend_kind::epoll) return epoll_loop::make();
  auto made = uring_loop::make();
  if (made || kind == backend_kind::io_uring) return made;
  if (why_not != nullptr) *why_not = describe(made.error());
  return epoll_loop::make();
}

}  // namespace strata::loop
