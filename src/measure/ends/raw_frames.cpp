#include "measure/ends/raw_frames.hpp"

#include <algorithm>
#include <vector>

namespace strata::measure {

namespace {

std::size_t header_size(const end_options& options) {
  return wire::ethernet_header_size + (options.tagged ? wire::vlan_tag_size : 0);
}

}  // namespace

result<message_batch> make_frames(const l2::interface& interface, const end_options& options,
                                  std::size_t count) {
  const wire::vlan_tag tag{
      .tpid = wire::tpid_customer,
      .tci = {.priority = options.priority, .dei = false, .vlan_id = options.vlan_id}};
  const std::span tags(&tag, options.tagged ? 1 : 0);
  std::vector<std::byte> whole(wire::frame_size(tags.size(), options.payload));
  const std::vector<std::byte> payload(options.payload);
  const auto size = wire::build_frame_into(
      whole, {options.peer_mac, interface.mac, tags, frame_ethertype}, payload, interface.mtu);
  if (!size) return std::unexpected(size.error());
  const auto head = header_size(options);
  return message_batch(byte_span(whole).first(head), options.payload,
                       *size - head - options.payload, count);
}

frame_taker::frame_taker(const end_options& options)
    : header_(header_size(options)), payload_(options.payload) {}

void frame_taker::take(byte_span frame, tally& tally) const {
  const auto size = std::min(frame.size(), header_ + payload_);
  tally.take(frame.first(size).subspan(std::min(header_, size)));
}

}  // namespace strata::measure
