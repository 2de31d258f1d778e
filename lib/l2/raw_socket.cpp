#include "strata/l2/raw_socket.hpp"

#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "l2/back_off.hpp"
#include "l2/card_stamps.hpp"
#include "l2/packet_socket.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {

namespace {

// Room for PACKET_AUXDATA and the three timestamps of SO_TIMESTAMPING.
constexpr std::size_t control_size =
    CMSG_SPACE(sizeof(tpacket_auxdata)) + CMSG_SPACE(sizeof(scm_timestamping));

struct alignas(cmsghdr) control_block {
  std::array<std::byte, control_size> bytes;
};

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// A received frame's metadata: the tag that the kernel removed, and the time.
struct aside {
  std::optional<wire::vlan_tag> tag;
  std::uint64_t time_ns = 0;
  bool is_card_time = false;
};

aside read_control(msghdr& header) {
  aside found;
  for (auto* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level == SOL_PACKET && each->cmsg_type == PACKET_AUXDATA) {
      tpacket_auxdata data{};
      std::memcpy(&data, CMSG_DATA(each), sizeof data);
      if ((data.tp_status & TP_STATUS_VLAN_VALID) != 0) {
        const bool has_tpid = (data.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
        found.tag = {has_tpid ? data.tp_vlan_tpid : wire::tpid_customer,
                     wire::vlan_tci::decode(data.tp_vlan_tci)};
      }
    } else if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SO_TIMESTAMPING) {
      scm_timestamping times{};
      std::memcpy(&times, CMSG_DATA(each), sizeof times);
      const auto hardware = nanoseconds(times.ts[2]);
      found.is_card_time = hardware != 0;
      found.time_ns = hardware != 0 ? hardware : nanoseconds(times.ts[0]);
    }
  }
  return found;
}

// Assembles a frame that was received four bytes into `memory`; `size` is its size on the wire.
received_frame assemble(mutable_byte_span memory, std::size_t size, aside aside,
                        const sockaddr_ll& address) {
  const auto room = memory.size() - wire::vlan_tag_size;
  auto bytes = memory.subspan(wire::vlan_tag_size, std::min(size, room));
  received_frame made{.bytes = {},
                      .wire_size = size,
                      .type = packet_type_of(address.sll_pkttype),
                      .time_ns = aside.time_ns,
                      .interface_index = address.sll_ifindex,
                      .is_card_time = aside.is_card_time};
  if (aside.tag) {
    const auto whole = memory.first(bytes.size() + wire::vlan_tag_size);
    // Fails only if the slot has no room for a header.
    if (wire::insert_tag(whole, *aside.tag)) {
      bytes = whole;
      made.wire_size += wire::vlan_tag_size;
    }
  }
  made.bytes = bytes;
  return made;
}

bool is_wait(int code) { return code == EAGAIN || code == EWOULDBLOCK; }

}  // namespace

struct raw_socket::batch {
  std::array<mmsghdr, max_batch> headers{};
  std::array<iovec, max_batch> vectors{};
  std::array<sockaddr_ll, max_batch> addresses{};
  std::array<control_block, max_batch> controls;

  // Receives a single frame by recvmsg, which costs a spinning receiver less than recvmmsg does.
  int receive(int fd, std::size_t count) {
    constexpr int how = MSG_DONTWAIT | MSG_TRUNC;
    if (count != 1) {
      return ::recvmmsg(fd, headers.data(), static_cast<unsigned>(count), how, nullptr);
    }
    const auto size = ::recvmsg(fd, &headers[0].msg_hdr, how);
    if (size < 0) return -1;
    headers[0].msg_len = static_cast<unsigned>(size);
    return 1;
  }

  batch() {
    for (std::size_t i = 0; i < max_batch; ++i) {
      headers[i].msg_hdr.msg_iov = &vectors[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
  }
};

raw_socket::raw_socket(interface link, unique_fd fd, const raw_socket_options& options)
    : link_(std::move(link)),
      fd_(std::move(fd)),
      receives_(options.receives),
      shares_(options.share.has_value()),
      ignores_outgoing_(options.ignore_outgoing && options.share.has_value()),
      is_promiscuous_(options.receives && options.promiscuous),
      timestamps_(options.receives && options.timestamps != timestamping::off),
      sends_by_time_(options.send_times.has_value()),
      stamps_(card_stamps::on(link_, wanted_stamps::by(options))),
      sending_(std::make_unique<batch>()),
      receiving_(std::make_unique<batch>()) {}

raw_socket::raw_socket(raw_socket&&) noexcept = default;
raw_socket& raw_socket::operator=(raw_socket&&) noexcept = default;
raw_socket::~raw_socket() = default;

result<raw_socket> raw_socket::create_unbound(std::string_view interface_name,
                                              const raw_socket_options& options) {
  auto found = interface::query(interface_name);
  if (!found) return std::unexpected(found.error());
  auto fd = open_packet_socket(*found, options);
  if (!fd) return std::unexpected(fd.error());
  return raw_socket(std::move(*found), std::move(*fd), options);
}

result<void> raw_socket::bind(const raw_socket_options& options) {
  return bind_packet_socket(fd_.get(), link_, options);
}

result<raw_socket> raw_socket::create_bound(std::string_view interface_name,
                                            const raw_socket_options& options) {
  auto made = create_unbound(interface_name, options);
  if (!made) return made;
  if (auto bound = made->bind(options); !bound) return std::unexpected(bound.error());
  return made;
}

result<raw_socket> raw_socket::create_on_all(const raw_socket_options& options) {
  if (!options.multicast.empty() || options.promiscuous || options.share ||
      wanted_stamps::by(options).any()) {
    return failure(errc::invalid_argument, "open a raw socket on all interfaces",
                   "groups, promiscuous mode, fanout and card timestamps need one interface",
                   "open the socket on one interface");
  }
  const auto found = interface::list();
  if (!found) return std::unexpected(found.error());
  interface all{.name = "all interfaces"};
  for (const auto& each : *found) all.mtu = std::max(all.mtu, each.mtu);
  auto fd = open_packet_socket(all, options);
  if (!fd) return std::unexpected(fd.error());
  raw_socket made(std::move(all), std::move(*fd), options);
  if (auto bound = made.bind(options); !bound) return std::unexpected(bound.error());
  return made;
}

// Sends without an address: the kernel knows the interface to which the socket is bound, but would
// have to look up a given one.
result<void> raw_socket::send_raw(byte_span frame,
                                  std::optional<std::chrono::milliseconds> timeout) {
  return send_raw_to(frame, link_, nullptr, timeout);
}

result<void> raw_socket::send_raw(byte_span frame, const interface& through) {
  const auto to = address_of(through, 0);
  return send_raw_to(frame, through, &to, std::nullopt);
}

result<void> raw_socket::send_raw_to(byte_span frame, const interface& through,
                                     const sockaddr_ll* address,
                                     std::optional<std::chrono::milliseconds> timeout) {
  const socklen_t size = address == nullptr ? 0 : sizeof *address;
  const int how = timeout ? MSG_DONTWAIT : 0;
  std::optional<back_off> room;  // most frames do not have to wait
  for (;;) {
    const auto sent = ::sendto(fd_.get(), frame.data(), frame.size(), how,
                               reinterpret_cast<const sockaddr*>(address), size);
    if (sent >= 0) return {};
    if (errno == EINTR) continue;
    if (!is_wait(errno) && errno != ENOBUFS) {
      return std::unexpected(
          packet_error(fd_.get(), errno,
                       "send a frame of " + std::to_string(frame.size()) + " bytes on", through));
    }
    if (!room) room.emplace(*this, POLLOUT, timeout);
    const auto waited = room->wait();
    if (!waited) return std::unexpected(waited.error());
    if (!*waited) return std::unexpected(no_room(frame.size(), through, *timeout));
  }
}

result<void> raw_socket::send_to(const mac_address& destination, std::uint16_t ethertype,
                                 byte_span payload) {
  auto frame = wire::build_simple_frame(destination, link_.mac, ethertype, payload, link_.mtu);
  if (!frame) return std::unexpected(frame.error());
  return send_raw(*frame);
}

result<received_frame> raw_socket::receive(mutable_byte_span memory) {
  return receive_frame(*this, memory);
}

result<received_frame> raw_socket::receive_with_timeout(mutable_byte_span memory,
                                                        std::chrono::milliseconds timeout) {
  return receive_frame(*this, memory, timeout);
}

result<std::size_t> raw_socket::try_send(std::span<const byte_span> frames) {
  const auto count = std::min(frames.size(), max_batch);
  for (std::size_t i = 0; i < count; ++i) {
    sending_->vectors[i] = {const_cast<std::byte*>(frames[i].data()), frames[i].size()};
  }
  for (;;) {
    const int sent =
        ::sendmmsg(fd_.get(), sending_->headers.data(), static_cast<unsigned>(count), MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    // ENOBUFS: the driver's queue is full, as with EAGAIN.
    if (is_wait(errno) || errno == ENOBUFS) return 0;
    if (errno != EINTR) {
      return std::unexpected(
          packet_error(fd_.get(), errno,
                       "send a frame of " + std::to_string(frames[0].size()) + " bytes on", link_));
    }
  }
}

result<std::size_t> raw_socket::try_receive(std::span<frame_slot> slots) {
  const auto count = std::min(slots.size(), max_batch);
  for (std::size_t i = 0; i < count; ++i) {
    const auto memory = slots[i].memory;
    if (memory.size() < wire::vlan_tag_size) {
      return failure(errc::invalid_argument,
                     "receive into " + std::to_string(memory.size()) + " bytes",
                     "4 are reserved for a VLAN tag", "use at least the MTU plus 22 bytes");
    }
    receiving_->vectors[i] = {memory.data() + wire::vlan_tag_size,
                              memory.size() - wire::vlan_tag_size};
    auto& header = receiving_->headers[i].msg_hdr;
    header.msg_name = &receiving_->addresses[i];
    header.msg_namelen = sizeof(sockaddr_ll);
    header.msg_control = receiving_->controls[i].bytes.data();
    header.msg_controllen = timestamps_ ? control_size : CMSG_SPACE(sizeof(tpacket_auxdata));
  }
  int received = 0;
  do {
    received = receiving_->receive(fd_.get(), count);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    const int code = errno;
    if (is_wait(code) && !(down_ && is_removed(fd_.get()))) return 0;
    down_ = down_ || code == ENETDOWN;
    return std::unexpected(
        packet_error(fd_.get(), is_wait(code) ? ENODEV : code, "receive on", link_));
  }
  down_ = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(received); ++i) {
    auto& header = receiving_->headers[i];
    slots[i].frame = assemble(slots[i].memory, header.msg_len, read_control(header.msg_hdr),
                              receiving_->addresses[i]);
  }
  return static_cast<std::size_t>(received);
}

result<std::uint16_t> raw_socket::fanout_group() const {
  int group = 0;
  socklen_t size = sizeof group;
  if (::getsockopt(fd_.get(), SOL_PACKET, PACKET_FANOUT, &group, &size) != 0) {
    return std::unexpected(packet_error(errno, "query the fanout group of", link_));
  }
  // Group 0 with mode hash also reads as 0.
  if (group == 0 && !shares_) {
    return failure(errc::invalid_argument, "query the fanout group of " + link_.name,
                   "this socket is in no group", "open the socket with a group");
  }
  return static_cast<std::uint16_t>(group & 0xFFFF);
}

result<void> raw_socket::set_filter(const frame_filter& filter) {
  if (auto may = may_change("filter frames on", false); !may) return may;
  auto wanted = filter;
  wanted.incoming_only = wanted.incoming_only || ignores_outgoing_;
  return replace_filter(fd_.get(), link_, wanted);
}

result<void> raw_socket::join(const mac_address& group) {
  if (auto may = may_change("join a group on", true); !may) return may;
  return set_membership(fd_.get(), link_, &group, true);
}

result<void> raw_socket::leave(const mac_address& group) {
  if (auto may = may_change("leave a group on", true); !may) return may;
  return set_membership(fd_.get(), link_, &group, false);
}

result<void> raw_socket::set_promiscuous(bool enabled) {
  if (auto may = may_change("change the mode of", true); !may) return may;
  if (enabled == is_promiscuous_) return {};
  auto done = set_membership(fd_.get(), link_, nullptr, enabled);
  if (done) is_promiscuous_ = enabled;
  return done;
}

result<void> raw_socket::set_receive_buffer(std::size_t bytes) {
  if (auto may = may_change("change the receive buffer on", false); !may) return may;
  return l2::set_receive_buffer(fd_.get(), bytes);
}

result<void> raw_socket::set_send_buffer(std::size_t bytes) {
  return l2::set_send_buffer(fd_.get(), bytes);
}

result<void> raw_socket::may_change(std::string_view text, bool needs_interface) const {
  const auto refuse = [&](std::string reason, std::string remedy) {
    return failure(errc::invalid_argument, std::string(text) + " " + link_.name, std::move(reason),
                   std::move(remedy));
  };
  if (!receives_) return refuse("this socket only sends", "open a socket that receives");
  if (needs_interface && link_.index == 0) {
    return refuse("this socket is open on all interfaces", "open a socket on one interface");
  }
  return {};
}

result<device_statistics> raw_socket::statistics() {
  if (auto added = add_statistics(fd_.get(), false, link_, counted_); !added) {
    return std::unexpected(added.error());
  }
  return counted_;
}

}  // namespace strata::l2
