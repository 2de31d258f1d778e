// Attributes as they are typed: `--attr PATH[:TYPE][=VALUE]`, PATH being the attributes' names or
// numbers from the outermost in, as header.dev-name or 1.2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/line/outcome.hpp"
#include "strata/nl/generic.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

/// An error about a family as the CLI ends with it: there is none of that name, or another reason.
[[nodiscard]] inline std::unexpected<refusal> refuse_family(const error& why) {
  return refuse(why.code == errc::not_found ? exit_not_found : exit_failed, why);
}

/// What is known of a message's attributes: by the specification, and by the kernel's policy, of
/// which both may be nullptr.
struct known_attributes {
  ynl::scope scope;
  const nl::family_policy* policy = nullptr;
  const std::vector<nl::attribute_policy>* table = nullptr;
};

/// Writes them all. What type one has is said by TYPE, else by the specification, else by the
/// kernel's policy, else it is a text. A path that was written already begins another of the
/// innermost nest that may be there many times, or its own nest if nothing is known; an attribute
/// that may itself be there many times is written behind the other. Errors: misused, naming the
/// attribute and what it takes.
[[nodiscard]] outcome<> write_attributes(wire::netlink_writer& writer,
                                         const std::vector<std::string>& typed,
                                         const known_attributes& known);

}  // namespace strata::cli
