#include "cli/nl/named_family.hpp"

#include "cli/nl/flags.hpp"
#include "ynl/search.hpp"

namespace strata::cli {

outcome<named_family> find_family(const invocation& call) {
  auto kernel = nl::generic::open();
  if (!kernel) return refuse_family(kernel.error());
  auto family = kernel->family(call.words[0]);
  if (!family) return refuse_family(family.error());
  auto specification = ynl::find_spec(call.text("spec"), family->name);
  if (!specification) return refuse(exit_failed, specification.error());
  return named_family{std::move(*kernel), std::move(*family), std::move(*specification)};
}

}  // namespace strata::cli
