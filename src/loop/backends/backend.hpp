// The choice of backend, made once at start.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "loop/loop.hpp"

namespace strata::loop {

enum class backend_kind : std::uint8_t { automatic, io_uring, epoll };

/// "auto", "io_uring" or "epoll".
[[nodiscard]] result<backend_kind> parse_backend(std::string_view text);

/// A loop for the calling thread. `automatic` takes io_uring where the kernel gives it, and says in
/// `*why_not` what kept it from doing so.
[[nodiscard]] result<std::unique_ptr<loop>> make_loop(backend_kind kind,
                                                      std::string* why_not = nullptr);

}  // namespace strata::loop
