// What the xdp verbs take from the command line, and what they open with it.
#pragma once

#include "cli/invocation.hpp"
#include "strata/wire/udp.hpp"
#include "strata/xdp/program.hpp"
#include "strata/xdp/socket.hpp"

namespace strata::cli {

/// -q, -w, -z and --busy-poll.
[[nodiscard]] std::uint32_t queue_flag(const invocation& call);
[[nodiscard]] xdp::socket_options socket_flags(const invocation& call);
/// --mode. Errors: misused.
[[nodiscard]] outcome<xdp::attach_mode> attach_flag(const invocation& call);
/// --ethertype, --vlan, --udp-port and --dst. Errors: misused.
[[nodiscard]] outcome<xdp::filter> filter_flags(const invocation& call);
/// "10.0.0.1:9000". Errors: misused, naming the flag.
[[nodiscard]] outcome<wire::udp_endpoint> udp_flag(const invocation& call, std::string_view key,
                                                   std::string_view otherwise);

/// An error of the library as the CLI ends with it.
[[nodiscard]] std::unexpected<refusal> refuse_open(const error& why);

}  // namespace strata::cli
