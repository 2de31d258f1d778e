// Where a program is to be attached, and what is there already, without libxdp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "strata/base/result.hpp"
#include "strata/xdp/program.hpp"

namespace strata::xdp {

/// The index of interface `name`; `operation` is for the error. Errors: not_found; EMFILE and what
/// else may keep it from asking.
[[nodiscard]] result<int> index_of(const std::string& name, std::string operation);

/// The MTU of interface `name`. Errors: as `index_of`.
[[nodiscard]] result<std::uint32_t> mtu_of(const std::string& name, std::string operation);

/// As `attached_to`. Interface `name` is for the error.
[[nodiscard]] result<std::optional<attached_program>> attached_at(int index,
                                                                  const std::string& name);

/// libxdp's dispatcher, where that is attached; nullopt where nothing is, or a single program.
/// Errors: of the asking.
[[nodiscard]] result<std::optional<attached_program>> dispatcher_at(int index,
                                                                    const std::string& name);

/// A refusal since another program is attached to interface `name`, which is named.
[[nodiscard]] error conflict_at(const std::string& name, int code);

[[nodiscard]] const char* text_of(attach_mode mode);

}  // namespace strata::xdp
