// Attributes from the command line: `--attr PATH[:TYPE][=VALUE]`, where PATH holds the attributes'
// names or numbers from the outermost in, as header.dev-name or 1.2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/line/outcome.hpp"
#include "strata/nl/generic.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

/// Converts an error about a family to the CLI's: there is no such family, or another reason.
[[nodiscard]] inline std::unexpected<refusal> refuse_family(const error& why) {
  return refuse(why.code == errc::not_found ? exit_not_found : exit_failed, why);
}

/// What is known of a message's attributes: from the specification, and from the kernel's policy;
/// both may be nullptr.
struct known_attributes {
  ynl::scope scope;
  const nl::family_policy* policy = nullptr;
  const std::vector<nl::attribute_policy>* table = nullptr;
};

/// Writes all attributes. An attribute's type comes from TYPE, else from the specification, else
/// from the kernel's policy, else it is text. A repeated path begins another instance of the
/// innermost nest that may be repeated, or of its own nest if nothing is known; an attribute that
/// may be repeated itself is appended. Errors: misused, naming the attribute and what it takes.
[[nodiscard]] outcome<> write_attributes(wire::netlink_writer& writer,
                                         const std::vector<std::string>& typed,
                                         const known_attributes& known);

}  // namespace strata::cli
