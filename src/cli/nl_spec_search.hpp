// Where specifications are looked for.
#pragma once

#include <string_view>

#include "cli/invocation.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

/// The family's specification: of `--spec FILE`, else FAMILY.yaml in the folders of
/// STRATA_YNL_PATH, else in those where strata and the kernel's tools install theirs. nullopt when
/// there is none. Errors: not_found, of a FILE that is not there; failed, when it cannot be read,
/// has more than 1 MiB, is no specification, or is another family's.
[[nodiscard]] outcome<std::optional<ynl::spec>> find_spec(const invocation& call,
                                                          std::string_view family);

}  // namespace strata::cli
