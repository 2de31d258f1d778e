#include "strata/wire/ethernet.hpp"

#include <algorithm>
#include <cstdio>

#include "strata/wire/big_endian.hpp"

namespace strata::wire {

namespace {

constexpr std::size_t llc_size = 3;

std::string hex_of(std::uint16_t value) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "0x%04x", value);
  return text.data();
}

result<void> check(const frame_header& header, std::size_t payload_size, std::size_t mtu) {
  if (header.tags.size() > max_vlan_tags) {
    return failure(errc::invalid_argument,
                   "build a frame with " + std::to_string(header.tags.size()) + " VLAN tags", {},
                   "use at most " + std::to_string(max_vlan_tags));
  }
  for (const auto& tag : header.tags) {
    if (!is_tpid(tag.tpid)) {
      return failure(errc::invalid_argument, "use TPID " + hex_of(tag.tpid),
                     "it does not mark a VLAN tag", "use 0x8100 (802.1Q) or 0x88a8 (802.1ad)");
    }
    if (auto good = tag.tci.check(); !good) return good;
  }
  if (header.ethertype && *header.ethertype < min_ethertype) {
    return failure(errc::invalid_argument, "use EtherType " + hex_of(*header.ethertype),
                   "below 0x0600 the field is an 802.3 length", "leave it out to send 802.3");
  }
  const auto limit = header.ethertype ? mtu : std::min<std::size_t>(mtu, max_length_field);
  if (payload_size > limit) {
    return failure(errc::limit_exceeded,
                   "build a frame with " + std::to_string(payload_size) + " bytes of payload",
                   header.ethertype ? "the MTU is " + std::to_string(mtu)
                                    : "an 802.3 frame has at most " + std::to_string(limit),
                   "send less at once, or raise the interface's MTU");
  }
  return {};
}

}  // namespace

std::optional<ethernet_view> ethernet_view::parse(byte_span frame) {
  if (frame.size() < ethernet_header_size) return std::nullopt;
  ethernet_view made;
  made.frame_ = frame;
  std::size_t at = mac_addresses_size;
  made.type_ = read_u16(frame.subspan(at).first<2>());
  while (is_tpid(made.type_) && made.tag_count_ < max_vlan_tags) {
    if (frame.size() < at + vlan_tag_size + 2) return std::nullopt;
    made.tags_[made.tag_count_++] = {made.type_,
                                     vlan_tci::decode(read_u16(frame.subspan(at + 2).first<2>()))};
    at += vlan_tag_size;
    made.type_ = read_u16(frame.subspan(at).first<2>());
  }
  return made;
}

std::optional<std::uint16_t> ethernet_view::ethertype() const {
  if (type_ < min_ethertype) return std::nullopt;
  return type_;
}

std::optional<std::size_t> ethernet_view::length() const {
  if (type_ > max_length_field) return std::nullopt;
  return type_;
}

std::optional<llc_header> ethernet_view::llc() const {
  const auto bytes = payload();
  if (!length() || bytes.size() < llc_size) return std::nullopt;
  return llc_header{std::to_integer<std::uint8_t>(bytes[0]),
                    std::to_integer<std::uint8_t>(bytes[1]),
                    std::to_integer<std::uint8_t>(bytes[2])};
}

byte_span ethernet_view::payload() const {
  const auto rest = frame_.subspan(header_size());
  const auto size = length();
  return size ? rest.first(std::min(*size, rest.size())) : rest;
}

byte_span ethernet_view::message() const {
  auto bytes = payload();
  // A tag may have been inserted on the way, on top of the minimum size.
  if (length() || frame_.size() > min_frame_size + tag_count_ * vlan_tag_size) return bytes;
  while (!bytes.empty() && bytes.back() == std::byte{0}) bytes = bytes.first(bytes.size() - 1);
  return bytes;
}

std::size_t ethernet_view::missing() const {
  const auto there = frame_.size() - header_size();
  const auto promised = length().value_or(0);
  return promised > there ? promised - there : 0;
}

ethernet ethernet::copy_of(const ethernet_view& view) {
  return {.destination = view.destination(),
          .source = view.source(),
          .tags = {view.tags().begin(), view.tags().end()},
          .ethertype = view.ethertype(),
          .payload = {view.payload().begin(), view.payload().end()}};
}

result<std::vector<std::byte>> ethernet::build(std::size_t mtu) const {
  const frame_header header{destination, source, tags, ethertype};
  if (auto good = check(header, payload.size(), mtu); !good) return std::unexpected(good.error());
  std::vector<std::byte> frame(frame_size(tags.size(), payload.size()));
  if (auto built = build_frame_into(frame, header, payload, mtu); !built) {
    return std::unexpected(built.error());
  }
  return frame;
}

result<std::size_t> build_frame_into(mutable_byte_span memory, const frame_header& header,
                                     byte_span payload, std::size_t mtu) {
  if (auto good = check(header, payload.size(), mtu); !good) return std::unexpected(good.error());
  const auto size = frame_size(header.tags.size(), payload.size());
  if (memory.size() < size) {
    return failure(errc::limit_exceeded, "build a frame of " + std::to_string(size) + " bytes",
                   "the memory size is " + std::to_string(memory.size()));
  }
  auto rest = copy_bytes(header.destination.bytes(), memory.first(size));
  rest = copy_bytes(header.source.bytes(), rest);
  const auto put = [&rest](std::uint16_t value) {
    write_u16(rest.first<2>(), value);
    rest = rest.subspan(2);
  };
  for (const auto& tag : header.tags) {
    put(tag.tpid);
    put(tag.tci.encode());
  }
  put(header.ethertype.value_or(static_cast<std::uint16_t>(payload.size())));
  std::ranges::fill(copy_bytes(payload, rest), std::byte{0});
  return size;
}

result<std::size_t> build_simple_frame_into(mutable_byte_span memory,
                                            const mac_address& destination,
                                            const mac_address& source, std::uint16_t ethertype,
                                            byte_span payload, std::size_t mtu) {
  return build_frame_into(memory, {destination, source, {}, ethertype}, payload, mtu);
}

result<std::size_t> build_vlan_frame_into(mutable_byte_span memory, const mac_address& destination,
                                          const mac_address& source, const vlan_tci& tci,
                                          std::uint16_t inner_ethertype, byte_span payload,
                                          std::size_t mtu) {
  const std::array tags{vlan_tag{tpid_customer, tci}};
  return build_frame_into(memory, {destination, source, tags, inner_ethertype}, payload, mtu);
}

result<std::vector<std::byte>> build_simple_frame(const mac_address& destination,
                                                  const mac_address& source,
                                                  std::uint16_t ethertype, byte_span payload,
                                                  std::size_t mtu) {
  return ethernet{destination, source, {}, ethertype, {payload.begin(), payload.end()}}.build(mtu);
}

result<std::vector<std::byte>> build_vlan_frame(const mac_address& destination,
                                                const mac_address& source, const vlan_tci& tci,
                                                std::uint16_t inner_ethertype, byte_span payload,
                                                std::size_t mtu) {
  return ethernet{destination,
                  source,
                  {{tpid_customer, tci}},
                  inner_ethertype,
                  {payload.begin(), payload.end()}}
      .build(mtu);
}

}  // namespace strata::wire
