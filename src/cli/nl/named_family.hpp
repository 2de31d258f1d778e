// The generic netlink family that a verb's first word names.
#pragma once

#include <optional>

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"
#include "strata/nl/generic.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

struct named_family {
  nl::generic kernel;
  nl::generic_family family;
  std::optional<ynl::spec> specification;

  /// Null if there is none.
  [[nodiscard]] const ynl::spec* spec() const { return specification ? &*specification : nullptr; }
};

/// Opens a connection and finds the family, and its specification: the file of `--spec`, or an
/// installed one. Errors: not_found for the family; failed.
[[nodiscard]] outcome<named_family> find_family(const invocation& call);

}  // namespace strata::cli
