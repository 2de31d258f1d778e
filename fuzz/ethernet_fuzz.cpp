// A frame that is read means the same when it is built again, and tags go in and out in place.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "strata/wire/arp.hpp"
#include "strata/wire/ethernet.hpp"
#include "strata/wire/udp.hpp"

using namespace strata::wire;

namespace {

void need(bool truth) {
  if (!truth) std::abort();
}

void check_tags(std::vector<std::byte> frame) {
  const auto before = frame;
  const auto tag = outer_tag(frame);
  const auto stripped = strip_tag(frame);
  need(stripped.size() == before.size() - (tag ? vlan_tag_size : 0));
  if (!tag) return;
  need(insert_tag(frame, *tag).has_value());
  need(frame == before);
}

void check_packet(strata::byte_span packet) {
  (void)arp::parse(packet);
  const auto seen = ipv4_view::parse(packet);
  if (!seen) return;
  need(seen->header_size() + seen->payload().size() <= packet.size());
  (void)seen->is_checksum_right();
  const auto datagram = udp_view::parse(seen->payload());
  if (!datagram) return;
  need(datagram->payload().size() + udp_header_size <= seen->payload().size());
  (void)datagram->is_checksum_right(seen->source(), seen->destination());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_tags({bytes.begin(), bytes.end()});
  check_packet(bytes);
  const auto view = ethernet_view::parse(bytes);
  if (!view) return 0;
  need(view->header_size() + view->payload().size() <= size);
  need(view->message().size() <= view->payload().size());
  (void)view->llc();
  check_packet(view->payload());
  const auto value = ethernet::copy_of(*view);
  const auto built = value.build(max_mtu);
  // What cannot be built again is what should not be sent: a reserved VID, a type that is neither.
  if (!built) return 0;
  const auto again = ethernet_view::parse(*built);
  need(again.has_value());
  // Padding may have been put behind the payload of a frame with an EtherType.
  need(again->payload().size() >= view->payload().size());
  need(std::equal(view->payload().begin(), view->payload().end(), again->payload().begin()));
  need(std::ranges::equal(again->tags(), view->tags()));
  return 0;
}
