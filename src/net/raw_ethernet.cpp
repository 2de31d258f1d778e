#include "net/raw_ethernet.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "net/xdp_device.hpp"

namespace strata::net {

namespace {

// How long a link that is down may be gone for good before it is noticed.
constexpr std::chrono::milliseconds look_again{500};

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
  if (url.kind == scheme::xdp) return xdp_device::open(url);
  auto socket = l2::raw_socket::create_bound(url.host, options_for(url.l2));
  if (!socket) return std::unexpected(socket.error());
  return std::make_unique<l2::raw_socket>(std::move(*socket));
}

}  // namespace

result<std::unique_ptr<raw_ethernet>> raw_ethernet::open(loop::loop& owner,
                                                         const endpoint_url& url) {
  auto device = open_device(url);
  if (!device) {
    auto failed = device.error();
    failed.operation += " for " + url.text();
    return std::unexpected(std::move(failed));
  }
  const int handle = ::fcntl((*device)->fd(), F_DUPFD_CLOEXEC, 0);
  if (handle < 0) {
    return system_failure(errno, "open " + url.text(), "raise the limit of open files (ulimit -n)");
  }
  return std::unique_ptr<raw_ethernet>(new raw_ethernet(owner, std::move(*device), handle, url));
}

raw_ethernet::raw_ethernet(loop::loop& owner, std::unique_ptr<l2::device> device, int poll_fd,
                           const endpoint_url& url)
    : loop_(owner),
      device_(std::move(device)),
      poll_handle_(owner.adopt(poll_fd)),
      peer_(url.l2),
      is_silent_when_gone_(url.kind == scheme::xdp),
      slot_size_(device_->link().mtu + wire::ethernet_header_size +
                 (wire::max_vlan_tags + 1) * wire::vlan_tag_size),
      memory_(slot_size_ * batch) {
  if (peer_.vlan_id || peer_.priority || peer_.drop_eligible) {
    tags_.push_back({wire::tpid_customer,
                     {peer_.priority.value_or(0), peer_.drop_eligible, peer_.vlan_id.value_or(0)}});
  }
  for (std::uint32_t slot = 0; slot < batch; ++slot) free_slots_.push_back(slot);
  if (is_silent_when_gone_) loop_.arm_after(*this, look_again);
}

raw_ethernet::~raw_ethernet() {
  // They lie in our slots, which are gone when the base that holds them goes.
  forget_arrived();
  abandon();
}

mutable_byte_span raw_ethernet::memory_of(std::uint32_t slot) {
  return std::span(memory_).subspan(slot * slot_size_, slot_size_);
}

void raw_ethernet::want() {
  if (!under_way() && !free_slots_.empty()) loop_.poll(poll_handle_, POLLIN, *this);
}

void raw_ethernet::on_completion(loop::completion) {
  if (const int code = read(); code != 0) {
    // The last thing that is done: who hears of it may destroy us.
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
    const int code = filled.error().sys_errno;
    if (code == ENETDOWN) loop_.arm_after(*this, look_again);
    return code;
  }
  std::array<std::uint32_t, batch> taken;
  std::copy_n(free_slots_.begin(), *filled, taken.begin());
  free_slots_.erase(free_slots_.begin(),
                    free_slots_.begin() + static_cast<std::ptrdiff_t>(*filled));
  // What hears a message may ask for more, but only from here on does the socket give any.
  for (std::size_t i = 0; i < *filled; ++i) arrive_frame(taken[i], slots_[i].frame);
  return 0;
}

void raw_ethernet::arrive_frame(std::uint32_t slot, const l2::received_frame& frame) {
  loop::buffer lent(*this, slot, frame.bytes);
  const auto view = wire::ethernet_view::parse(frame.bytes);
  // A host's own broadcasts do not come back, and what is cut is above the MTU of this interface.
  if (!view || frame.is_truncated()) {
    arrive({-EMSGSIZE, {}, {}});
    return;
  }
  const auto message = view->message();
  arrive({static_cast<int>(message.size()), std::move(lent).narrowed(message),
          loop::socket_address::from_mac(view->source(), device_->link().index)});
}

void raw_ethernet::give_back(std::uint32_t id) {
  free_slots_.push_back(id);
  if (is_wanted()) want();
}

// The link was down, or says nothing: by now it may be up, or have been removed.
void raw_ethernet::on_timer() {
  if (const auto known = l2::interface::query(device_->link().name);
      known && known->index == device_->link().index) {
    if (!known->is_up() || is_silent_when_gone_) loop_.arm_after(*this, look_again);
    return;
  }
  arrive({-ENODEV, {}, {}});
}

bool raw_ethernet::send(const loop::socket_address& to, loop::slice bytes) {
  if (outgoing_sizes_.size() >= most_waiting || bytes.bytes().size() > max_size()) return false;
  const auto destination =
      to.size() == 0 ? peer_.destination.value_or(mac_address::broadcast()) : to.mac();
  const auto start = outgoing_.size();
  outgoing_.resize(start + wire::frame_size(tags_.size(), bytes.bytes().size()));
  const auto built =
      wire::build_frame_into(std::span(outgoing_).subspan(start),
                             {destination, device_->link().mac, tags_, peer_.ethertype},
                             bytes.bytes(), device_->link().mtu);
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
    // What the kernel has no room for is lost, as on a wire; it is counted, and the rest goes on.
    const auto taken = std::max<std::size_t>(sent.value_or(0), 1);
    if (sent.value_or(0) == 0) count_send_error();
    for (std::size_t i = 0; i < taken; ++i) at += outgoing_sizes_[next + i];
    next += taken;
  }
  outgoing_.clear();
  outgoing_sizes_.clear();
}

}  // namespace strata::net
