// Attributes as they are typed: `--attr PATH[:TYPE][=VALUE]`, PATH being the attributes' numbers
// from the outermost in, as 3.1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/outcome.hpp"
#include "strata/nl/generic.hpp"

namespace strata::cli {

/// An error about a family as the CLI ends with it: there is none of that name, or another reason.
[[nodiscard]] inline std::unexpected<refusal> refuse_family(const error& why) {
  return refuse(why.code == errc::not_found ? exit_not_found : exit_failed, why);
}

/// Writes them all. What type one has is said by TYPE, else by the kernel's policy (`table`, which
/// may be nullptr), else it is a text. A path that was written already begins its nest anew.
/// Errors: misused, naming the attribute and what it takes.
[[nodiscard]] outcome<> write_attributes(wire::netlink_writer& to,
                                         const std::vector<std::string>& typed,
                                         const nl::family_policy* policy,
                                         const std::vector<nl::attribute_policy>* table);

}  // namespace strata::cli
