// Whatever a process without privileges asks of the daemon is read within bounds, and what is taken
// can be said in a sentence of the log.
#include <linux/filter.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "strata/l2/broker.hpp"
#include "strata/xdp/broker.hpp"

namespace {

void check_name(const std::string& name) {
  const bool is_plain = !name.empty() && name.size() < 16 &&
                        std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f'; });
  if (!is_plain) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  if (const auto xdp = strata::xdp::parse_request(input)) {
    check_name(xdp->interface_name);
    if (xdp->which.vlan_id.value_or(0) > 0x0FFF) std::abort();
  }
  if (const auto packet = strata::l2::parse_request(input)) {
    check_name(packet->interface_name);
    if (packet->filter.program().empty()) std::abort();
  }
  return 0;
}
