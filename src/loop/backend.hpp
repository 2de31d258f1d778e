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

/// Whether a loop can adopt and poll a descriptor of the kernel's: not in a simulation, whose
/// descriptors are its own.
[[nodiscard]] bool polls_kernel_descriptors(const loop& which);

/// A loop for the calling thread. `automatic` takes io_uring where the kernel gives it, and says in
/// `*why_not` what kept it from doing so.
[[nodiscard]] result<std::unique_ptr<loop>> make_loop(backend_kind kind,
                                                      std::string* why_not = nullptr);

}  // namespace strata::loop
