// The interface to which a program is to be attached, and the program already there, without
// libxdp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "strata/base/result.hpp"
#include "strata/xdp/program.hpp"

namespace strata::xdp {

/// Returns the index of interface `name`; `operation` is for the error. Errors: not_found; EMFILE
/// and other errors of the query.
[[nodiscard]] result<int> index_of(const std::string& name, std::string operation);

/// Returns the MTU of interface `name`. Errors: as `index_of`.
[[nodiscard]] result<std::uint32_t> mtu_of(const std::string& name, std::string operation);

/// As `attached_to`. Interface `name` is for the error.
[[nodiscard]] result<std::optional<attached_program>> attached_at(int index,
                                                                  const std::string& name);

/// Returns libxdp's dispatcher if it is attached; nullopt if nothing, or a single program, is
/// attached. Errors: those of the query.
[[nodiscard]] result<std::optional<attached_program>> dispatcher_at(int index,
                                                                    const std::string& name);

/// Returns the refusal because another program, which it names, is attached to interface `name`.
[[nodiscard]] error conflict_at(const std::string& name, int code);

[[nodiscard]] const char* text_of(attach_mode mode);

}  // namespace strata::xdp
