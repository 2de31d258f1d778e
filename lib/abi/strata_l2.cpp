// The C ABI of frames and raw sockets: translates to the C++ library and back, and decides nothing
// itself.
#include <algorithm>
#include <cerrno>
#include <new>

#include "abi/error.hpp"
#include "abi/options.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/strata.h"
#include "strata/wire/ethernet.hpp"

struct strata_raw_socket {
  strata::l2::raw_socket within;
};

namespace {

using strata::byte_span;
using strata::errc;
using strata::mutable_byte_span;
using strata::abi::fail;
using strata::abi::fail_missing;

strata::mac_address mac_of(const std::uint8_t* octets) {
  return strata::mac_address(std::as_bytes(std::span<const std::uint8_t, 6>(octets, 6)));
}

void copy_mac(const strata::mac_address& from, std::uint8_t* to) {
  std::ranges::copy(from.octets(), to);
}

strata::l2::raw_socket_options options_of(const strata_raw_socket_options* from) {
  const auto given = strata::abi::known(from, strata_raw_socket_defaults);
  strata::l2::raw_socket_options options;
  if (given.ethertype >= 0) options.filter.ethertype = static_cast<std::uint16_t>(given.ethertype);
  if (given.vlan_id >= 0) options.filter.vlan_id = static_cast<std::uint16_t>(given.vlan_id);
  options.receives = given.send_only == 0;
  options.ignore_outgoing = given.hear_outgoing == 0;
  options.promiscuous = given.promiscuous != 0;
  options.qdisc_bypass = given.qdisc_bypass != 0;
  if (given.timestamps != 0) options.timestamps = strata::l2::timestamping::software;
  return options;
}

int hand_over(strata::result<strata::l2::raw_socket> made, strata_raw_socket** to) {
  if (!made) return fail(made.error());
  *to = new (std::nothrow) strata_raw_socket{std::move(*made)};
  return *to == nullptr ? -ENOMEM : 0;
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
                 .reason = "it has over 4 tags, an EtherType above 0xffff, or no payload",
                 .remedy = {},
                 .offset = {}});
  }
  for (std::size_t i = 0; i < frame->tag_count; ++i) {
    const auto& tag = frame->tags[i];
    tags[i] = {tag.tpid, {tag.priority, tag.dei != 0, tag.vlan_id}};
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
                 .reason = "it ends within its header",
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

void strata_raw_socket_defaults(strata_raw_socket_options* options) {
  *options = {};
  options->size = sizeof *options;
  options->ethertype = -1;
  options->vlan_id = -1;
}

int strata_raw_socket_open(const char* interface_name, const strata_raw_socket_options* options,
                           strata_raw_socket** opened) {
  if (interface_name == nullptr || opened == nullptr) return fail_missing("an interface");
  return hand_over(strata::l2::raw_socket::create_bound(interface_name, options_of(options)),
                   opened);
}

int strata_raw_socket_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                          const strata_raw_socket_options* options,
                                          strata_raw_socket** opened) {
  if (interface_name == nullptr || opened == nullptr) return fail_missing("an interface");
  return hand_over(strata::l2::raw_socket::open_through_daemon(
                       interface_name, options_of(options),
                       daemon_socket == nullptr ? strata::broker::default_path() : daemon_socket),
                   opened);
}

void strata_raw_socket_close(strata_raw_socket* which) { delete which; }

int strata_raw_socket_fd(const strata_raw_socket* which) { return which->within.fd(); }

void strata_raw_socket_mac(const strata_raw_socket* which, uint8_t mac[6]) {
  copy_mac(which->within.link().mac, mac);
}

uint32_t strata_raw_socket_mtu(const strata_raw_socket* which) { return which->within.link().mtu; }

int strata_raw_socket_send(strata_raw_socket* which, const void* frame, size_t size) {
  const auto sent = which->within.send_raw({static_cast<const std::byte*>(frame), size});
  return sent ? 0 : fail(sent.error());
}

int strata_raw_socket_send_batch(strata_raw_socket* which, const struct iovec* frames, size_t count,
                                 size_t* sent) {
  std::array<byte_span, strata::l2::raw_socket::max_batch> spans;
  const auto batch = std::min(count, spans.size());
  for (std::size_t i = 0; i < batch; ++i) {
    spans[i] = {static_cast<const std::byte*>(frames[i].iov_base), frames[i].iov_len};
  }
  const auto taken = which->within.try_send(std::span(spans).first(batch));
  if (!taken) return fail(taken.error());
  *sent = *taken;
  return 0;
}

int strata_raw_socket_receive(strata_raw_socket* which, void* memory, size_t size, int timeout_ms,
                              strata_received* received) {
  const mutable_byte_span room(static_cast<std::byte*>(memory), size);
  const auto frame = timeout_ms < 0 ? which->within.receive(room)
                                    : which->within.receive_with_timeout(
                                          room, std::chrono::milliseconds(timeout_ms));
  if (!frame) return fail(frame.error());
  *received = {frame->bytes.data(), frame->bytes.size(), frame->wire_size, frame->time_ns};
  return 0;
}

int strata_raw_socket_statistics(strata_raw_socket* which, uint64_t* received, uint64_t* dropped) {
  const auto counted = which->within.statistics();
  if (!counted) return fail(counted.error());
  *received = counted->received;
  *dropped = counted->dropped;
  return 0;
}
