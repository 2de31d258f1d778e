// The flags of strata l2 link.
#pragma once

#include "cli/line/invocation.hpp"
#include "cli/line/verb.hpp"
#include "strata/base/unique_fd.hpp"
#include "strata/nl/route.hpp"

namespace strata::cli {

/// A link to create, and the namespace that its `kind` may refer to.
struct wanted_link {
  nl::new_link link;
  unique_fd network_namespace;
};

/// From --type and its flags. Errors: misused; there is no such parent or namespace.
[[nodiscard]] outcome<wanted_link> new_link_flags(const invocation& call, nl::route& route);

/// From --mtu, --up, --down, --mac, --master, --no-master and --name.
[[nodiscard]] outcome<nl::link_changes> link_change_flags(const invocation& call, nl::route& route);

/// Opens the network namespace of a process (by number) or of a name (`ip netns`).
[[nodiscard]] outcome<unique_fd> open_network_namespace(const std::string& pid_or_name);

/// The verbs of `strata l2 link`.
[[nodiscard]] std::vector<verb_row> link_verbs();

}  // namespace strata::cli
