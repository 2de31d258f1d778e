#include "net/ethernet/raw_ethernet.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "net/ethernet/xdp_device.hpp"
#include "net/scheme.hpp"
#include "strata/l2/frame_ring.hpp"
#include "strata/wire/big_endian.hpp"

namespace strata::net {

namespace {

// At the usual MTU it holds 1024 frames.
constexpr std::size_t ring_memory = std::size_t{2} << 20U;

l2::raw_socket_options options_for(const l2_address& peer) {
  l2::raw_socket_options options;
  options.filter.ethertype = peer.ethertype;
  options.filter.vlan_id = peer.vlan_id;
  if (peer.destination && !peer.destination->is_multicast()) {
    options.filter.source = peer.destination;
  }
  if (peer.destination && peer.destination->is_multicast() && !peer.destination->is_broadcast()) {
    options.multicast = {*peer.destination};
  }
  return options;
}

result<std::unique_ptr<l2::device>> open_device(const endpoint_url& url) {
  if (url.scheme->form == url_form::queue) return xdp_device::open(url);
  auto socket = l2::frame_ring::create_bound(
      url.host, {.socket = options_for(url.l2), .memory = ring_memory});
  if (!socket) return std::unexpected(socket.error());
  return std::make_unique<l2::frame_ring>(std::move(*socket));
}

}  // namespace

result<std::unique_ptr<raw_ethernet>> raw_ethernet::open(loop::loop& owner,
                                                         const endpoint_url& url) {
  const auto fail = [&](error failed) {
    failed.operation += " for " + url.text();
    return std::unexpected(std::move(failed));
  };
  auto device = open_device(url);
  if (!device) return fail(device.error());
  const int handle = ::fcntl((*device)->fd(), F_DUPFD_CLOEXEC, 0);
  if (handle < 0) return system_failure(errno, "open " + url.text());
  std::unique_ptr<raw_ethernet> made(new raw_ethernet(owner, std::move(*device), handle, url));
  auto watch = link_watch::open(owner, made->device_->link().index,
                                [self = made.get()](const auto& now) { self->on_link(now); });
  if (!watch) return fail(watch.error());
  made->link_watch_ = std::move(*watch);
  // From here on every change is reported; ask for the present state.
  if (const auto now = made->link_watch_->look()) {
    made->device_->update_link(*now);
    if (!now->is_running()) made->report_state();
  } else {
    made->arrive({-ENODEV, {}, {}});
  }
  return made;
}

raw_ethernet::raw_ethernet(loop::loop& owner, std::unique_ptr<l2::device> device, int poll_fd,
                           const endpoint_url& url)
    : loop_(owner), device_(std::move(device)), poll_handle_(owner.adopt(poll_fd)), peer_(url.l2) {
  if (peer_.vlan_id || peer_.priority || peer_.drop_eligible) {
    tags_.push_back({wire::tpid_customer,
                     {peer_.priority.value_or(0), peer_.drop_eligible, peer_.vlan_id.value_or(0)}});
  }
  for (std::uint32_t slot = 0; slot < batch; ++slot) free_slots_.push_back(slot);
}

raw_ethernet::~raw_ethernet() {
  // The buffers lie in our slots, which are destroyed before the base that holds the buffers.
  forget_arrived();
  abandon();
}

std::size_t raw_ethernet::slot_size() const {
  return device_->link().mtu + wire::ethernet_header_size +
         (wire::max_vlan_tags + 1) * wire::vlan_tag_size;
}

mutable_byte_span raw_ethernet::memory_of(std::uint32_t slot) {
  auto& memory = memory_[slot];
  if (memory.size() < slot_size()) memory.resize(slot_size());
  return memory;
}

void raw_ethernet::want() {
  if (!under_way() && !free_slots_.empty()) loop_.poll(poll_handle_, POLLIN, *this);
}

void raw_ethernet::on_completion(loop::completion) {
  if (const int code = read(); code != 0) {
    // The last action: the receiver may destroy this object.
    arrive({-code, {}, {}});
  } else if (is_wanted()) {
    want();
  }
}

int raw_ethernet::read() {
  const auto count = free_slots_.size();
  for (std::size_t i = 0; i < count; ++i) slots_[i].memory = memory_of(free_slots_[i]);
  const auto filled = device_->try_receive(std::span(slots_).first(count));
  if (!filled) {
    // rtnetlink reports the link's state: an interface that is down is silent until it is up again,
    // and its removal is reported once.
    const int code = filled.error().sys_errno;
    return code == ENETDOWN || code == ENODEV || code == ENXIO ? 0 : code;
  }
  std::array<std::uint32_t, batch> taken;
  std::copy_n(free_slots_.begin(), *filled, taken.begin());
  free_slots_.erase(free_slots_.begin(),
                    free_slots_.begin() + static_cast<std::ptrdiff_t>(*filled));
  // A receiver may ask for more, but the socket delivers again only from here on.
  for (std::size_t i = 0; i < *filled; ++i) arrive_frame(taken[i], slots_[i].frame);
  return 0;
}

void raw_ethernet::arrive_frame(std::uint32_t slot, const l2::received_frame& frame) {
  loop::buffer lent(*this, slot, frame.bytes);
  const auto view = wire::ethernet_view::parse(frame.bytes);
  // A host does not receive its own broadcasts, and a truncated frame exceeds this interface's MTU.
  if (!view || frame.is_truncated()) {
    arrive({-EMSGSIZE, {}, {}});
    return;
  }
  if (!is_ours(*view)) return;
  const auto message = message_in(*view);
  if (!message) {
    arrive({-EMSGSIZE, {}, {}});
    return;
  }
  arrive({static_cast<int>(message->size()), std::move(lent).narrowed(*message),
          loop::socket_address::from_mac(view->source(), device_->link().index)});
}

// A tagged frame belongs to another network, which an untagged answer would not reach. VLAN 0 is a
// priority alone.
bool raw_ethernet::is_ours(const wire::ethernet_view& frame) const {
  return peer_.vlan_id || frame.tags().empty() || frame.tags()[0].tci.vlan_id == 0;
}

std::optional<byte_span> raw_ethernet::message_in(const wire::ethernet_view& frame) const {
  const auto payload = frame.payload();
  switch (peer_.padding) {
    case l2_padding::keep: return payload;
    case l2_padding::length: break;
    default: return frame.message();
  }
  if (payload.size() < length_size()) return std::nullopt;
  const auto length = wire::read_u16(payload.first<2>());
  const auto rest = payload.subspan(length_size());
  if (length > rest.size()) return std::nullopt;
  return rest.first(length);
}

void raw_ethernet::give_back(std::uint32_t id) {
  free_slots_.push_back(id);
  if (is_wanted()) want();
}

void raw_ethernet::on_link(const std::optional<l2::interface>& interface) {
  if (!interface) {
    // The last action: the receiver may destroy this object.
    arrive({-ENODEV, {}, {}});
    return;
  }
  const auto before = device_->link();
  device_->update_link(*interface);
  if (interface->name != before.name)
    report(false, before.name + " is called " + interface->name + " now");
  if (interface->mtu != before.mtu) {
    report(false, interface->name + " has an MTU of " + std::to_string(interface->mtu) +
                      " bytes now, had " + std::to_string(before.mtu));
  }
  if (interface->mac != before.mac) {
    report(false, interface->name + " has the address " + interface->mac.text() + " now, had " +
                      before.mac.text());
  }
  if (interface->is_running() == before.is_running() && interface->is_up() == before.is_up())
    return;
  report_state();
  if (interface->is_running() && is_wanted()) want();
}

void raw_ethernet::report_state() {
  const auto& link = device_->link();
  if (link.is_running()) {
    report(false, link.name + " is up");
  } else if (link.is_up()) {
    report(true, link.name + " has no carrier: check that its other end is up");
  } else {
    report(true, link.name + " is down; set it up: ip link set " + link.name + " up");
  }
}

byte_span raw_ethernet::payload_of(byte_span message) {
  if (length_size() == 0) return message;
  measured_.resize(length_size() + message.size());
  wire::write_u16(std::span(measured_).first<2>(), static_cast<std::uint16_t>(message.size()));
  copy_bytes(message, mutable_byte_span(measured_).subspan(length_size()));
  return measured_;
}

bool raw_ethernet::send(const loop::socket_address& address, loop::slice bytes) {
  if (!is_up() || outgoing_sizes_.size() >= most_waiting || bytes.bytes().size() > max_size()) {
    return false;
  }
  const auto payload = payload_of(bytes.bytes());
  const auto destination =
      address.size() == 0 ? peer_.destination.value_or(mac_address::broadcast()) : address.mac();
  const auto start = outgoing_.size();
  outgoing_.resize(start + wire::frame_size(tags_.size(), payload.size()));
  const auto built = wire::build_frame_into(
      std::span(outgoing_).subspan(start),
      {destination, device_->link().mac, tags_, peer_.ethertype}, payload, device_->link().mtu);
  if (!built) {
    outgoing_.resize(start);
    return false;
  }
  outgoing_sizes_.push_back(*built);
  loop_.at_turn_end(*this);
  return true;
}

void raw_ethernet::on_turn_end() {
  std::array<byte_span, batch> frames;
  const byte_span all = outgoing_;
  std::size_t at = 0;
  for (std::size_t next = 0; next < outgoing_sizes_.size();) {
    const auto count = std::min(batch, outgoing_sizes_.size() - next);
    std::size_t end = at;
    for (std::size_t i = 0; i < count; ++i) {
      frames[i] = all.subspan(end, outgoing_sizes_[next + i]);
      end += outgoing_sizes_[next + i];
    }
    const auto sent = device_->try_send(std::span(frames).first(count));
    // The kernel drops frames that it has no room for, as a wire does; they are counted, and
    // sending goes on.
    const auto taken = std::max<std::size_t>(sent.value_or(0), 1);
    if (sent.value_or(0) == 0) count_send_error();
    for (std::size_t i = 0; i < taken; ++i) at += outgoing_sizes_[next + i];
    next += taken;
  }
  outgoing_.clear();
  outgoing_sizes_.clear();
}

std::uint64_t raw_ethernet::take_kernel_drops() {
  const auto all = device_->statistics();
  if (!all) return 0;
  return all->dropped - std::exchange(drops_seen_, all->dropped);
}

}  // namespace strata::net
