// The choice of backend, made once at startup.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "loop/loop.hpp"

namespace strata::loop {

enum class backend_kind : std::uint8_t { automatic, io_uring, epoll };

/// Parses "auto", "io_uring" or "epoll".
[[nodiscard]] result<backend_kind> parse_backend(std::string_view text);

/// Creates a loop for the calling thread. `automatic` selects io_uring if the kernel provides it;
/// otherwise it writes the obstacle to `*why_not`.
[[nodiscard]] result<std::unique_ptr<loop>> make_loop(backend_kind kind,
                                                      std::string* why_not = nullptr);

}  // namespace strata::loop
