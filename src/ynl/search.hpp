// Where specifications are looked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// Errors: not_found, when there is no such file; malformed and others, when it cannot be read, has
/// more than 1 MiB, or is no specification. Their words can be shown on a terminal.
[[nodiscard]] result<spec> read_spec_file(const std::string& file);

/// The family's specification: of `file`, unless that is empty; else of FAMILY.yaml in the folders
/// of STRATA_YNL_PATH; else in strata's own folder, beside the program or where it was to be
/// installed, and in that of the kernel's tools. nullopt when there is none. Errors: those of
/// `read_spec_file`; malformed, when it is another family's.
[[nodiscard]] result<std::optional<spec>> find_spec(const std::string& file,
                                                    std::string_view family);

}  // namespace strata::ynl
