// The C ABI of frames and their tags: translates to the C++ library and back, without decisions of
// its own.
#include "strata/strata_l2.h"

#include <algorithm>
#include <array>

#include "abi/error.hpp"
#include "abi/raw_options.hpp"
#include "strata/wire/ethernet.hpp"

namespace {

using strata::byte_span;
using strata::errc;
using strata::mutable_byte_span;
using strata::abi::copy_mac;
using strata::abi::fail;
using strata::abi::fail_missing;

strata::mac_address mac_of(const std::uint8_t* octets) {
  return strata::mac_address(std::as_bytes(std::span<const std::uint8_t, 6>(octets, 6)));
}

strata::wire::vlan_tag tag_of(const strata_vlan_tag& tag) {
  return {tag.tpid == 0 ? strata::wire::tpid_customer : tag.tpid,
          {tag.priority, tag.dei != 0, tag.vlan_id}};
}

}  // namespace

int strata_frame_build(const strata_frame* frame, size_t mtu, void* memory, size_t size,
                       size_t* built) {
  if (frame == nullptr || memory == nullptr || built == nullptr) return fail_missing("a frame");
  std::array<strata::wire::vlan_tag, STRATA_MAX_VLAN_TAGS> tags;
  if (frame->tag_count > tags.size() || frame->ethertype > UINT16_MAX ||
      (frame->payload == nullptr && frame->payload_size != 0)) {
    return fail({.code = errc::invalid_argument,
                 .operation = "build a frame",
                 .reason = "it has more than 4 tags, an EtherType above 0xffff, or no payload",
                 .remedy = {},
                 .offset = {}});
  }
  for (std::size_t i = 0; i < frame->tag_count; ++i) {
    tags[i] = tag_of(frame->tags[i]);
  }
  strata::wire::frame_header header{.destination = mac_of(frame->destination),
                                    .source = mac_of(frame->source),
                                    .tags = std::span(tags).first(frame->tag_count),
                                    .ethertype = {}};
  if (frame->ethertype >= 0) header.ethertype = static_cast<std::uint16_t>(frame->ethertype);
  const auto done = strata::wire::build_frame_into(
      mutable_byte_span(static_cast<std::byte*>(memory), size), header,
      byte_span(static_cast<const std::byte*>(frame->payload), frame->payload_size), mtu);
  if (!done) return fail(done.error());
  *built = *done;
  return 0;
}

int strata_frame_parse(const void* bytes, size_t size, strata_frame* frame) {
  if ((bytes == nullptr && size != 0) || frame == nullptr) return fail_missing("a frame");
  const auto view =
      strata::wire::ethernet_view::parse({static_cast<const std::byte*>(bytes), size});
  if (!view) {
    return fail({.code = errc::malformed,
                 .operation = "read a frame of " + std::to_string(size) + " bytes",
                 .reason = "its header is incomplete",
                 .remedy = {},
                 .offset = size});
  }
  *frame = {};
  copy_mac(view->destination(), frame->destination);
  copy_mac(view->source(), frame->source);
  frame->ethertype = view->length() ? -1 : view->type_field();
  frame->tag_count = static_cast<std::uint32_t>(view->tags().size());
  for (std::size_t i = 0; i < view->tags().size(); ++i) {
    const auto& tag = view->tags()[i];
    frame->tags[i] = {tag.tpid, tag.tci.vlan_id, tag.tci.priority,
                      static_cast<std::uint8_t>(tag.tci.dei)};
  }
  frame->payload = view->payload().data();
  frame->payload_size = view->payload().size();
  return 0;
}

int strata_frame_outer_tag(const void* frame, size_t size, strata_vlan_tag* tag) {
  if (frame == nullptr || tag == nullptr) return fail_missing("a frame");
  const auto found = strata::wire::outer_tag({static_cast<const std::byte*>(frame), size});
  if (!found) return 0;
  *tag = {found->tpid, found->tci.vlan_id, found->tci.priority,
          static_cast<std::uint8_t>(found->tci.dei)};
  return 1;
}

int strata_frame_push_tag(void* memory, size_t size, const strata_vlan_tag* tag) {
  if (memory == nullptr || tag == nullptr) return fail_missing("a frame");
  const auto wanted = tag_of(*tag);
  if (const auto fine = wanted.tci.check(); !fine) return fail(fine.error());
  const auto done = strata::wire::insert_tag({static_cast<std::byte*>(memory), size}, wanted);
  return done ? 0 : fail(done.error());
}

size_t strata_frame_pop_tag(void* frame, size_t size) {
  if (frame == nullptr) return 0;
  const mutable_byte_span all(static_cast<std::byte*>(frame), size);
  return size - strata::wire::strip_tag(all).size();
}
