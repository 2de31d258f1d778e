// Where specifications are looked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/line/invocation.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

/// Errors: not_found, when there is no such file; failed, when it cannot be read, has more than
/// 1 MiB, or is no specification.
[[nodiscard]] outcome<ynl::spec> read_spec_file(const std::string& file);

/// The family's specification: of `--spec FILE`, else FAMILY.yaml in the folders of
/// STRATA_YNL_PATH, else in those where strata and the kernel's tools install theirs. nullopt when
/// there is none. Errors: those of `read_spec_file`; failed, when it is another family's.
[[nodiscard]] outcome<std::optional<ynl::spec>> find_spec(const invocation& call,
                                                          std::string_view family);

}  // namespace strata::cli
