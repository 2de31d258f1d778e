#include "cli/l2/probe_port.hpp"

#include <fmt/format.h>

#include <random>

#include "cli/l2/frame_flags.hpp"
#include "cli/l2/open_socket.hpp"
#include "cli/terminal/output.hpp"

namespace strata::cli {

namespace {

constexpr std::size_t probe_slot_size = 65536 + 64;
constexpr std::size_t probe_slot_count = 64;

}  // namespace

probe_port::probe_port(l2::raw_socket socket, std::uint16_t ethertype, bool receives)
    : socket_(std::move(socket)), ethertype_(ethertype) {
  if (!receives) return;
  memory_.resize(probe_slot_size * probe_slot_count);
  slots_.resize(probe_slot_count);
  for (std::size_t i = 0; i < probe_slot_count; ++i) {
    slots_[i].memory = std::span(memory_).subspan(i * probe_slot_size, probe_slot_size);
  }
}

outcome<probe_port> probe_port::open(const invocation& call, l2::raw_socket_options options) {
  const auto type = ethertype_flag(call, wire::ethertype_experimental);
  if (!type) return std::unexpected(type.error());
  options.filter.ethertype = *type;
  if (call.flags.contains("vlan")) {
    options.filter.vlan_id = call.flags.value("vlan", std::uint16_t{0});
  }
  auto socket = open_raw_socket(call, options);
  if (!socket) return std::unexpected(socket.error());
  return probe_port(std::move(*socket), **type, options.receives);
}

outcome<> probe_port::receive(std::chrono::milliseconds most,
                              const std::function<void(const received&)>& take) {
  const auto ready = l2::wait_readable(socket_, most);
  if (!ready) return refuse(exit_failed, ready.error());
  if (!*ready) return {};
  const auto count = socket_.try_receive(slots_);
  if (!count) {
    if (count.error().code == errc::not_found) return refuse(exit_failed, count.error());
    complain(describe(count.error()));
    return {};
  }
  for (const auto& slot : std::span(slots_).first(*count)) {
    const auto view = wire::ethernet_view::parse(slot.frame.bytes);
    if (view) take({slot.frame, *view, wire::probe::parse(view->payload())});
  }
  return {};
}

outcome<probe_frame> probe_frame::make(const invocation& call, const probe_port& port) {
  const auto to = mac_address::from_text(call.words[1]);
  if (!to) return refuse(exit_misused, to.error());
  const auto& link = port.link();
  probe_frame made;
  made.destination_ = *to;
  made.payload_ = call.flags.value("size", std::size_t{46});
  if (made.payload_ > link.mtu) {
    return refuse(exit_misused, fmt::format("--size cannot be {}: '{}' has an MTU of {}",
                                            made.payload_, link.name, link.mtu));
  }
  const auto tags = tag_flags(call);
  const std::vector<std::byte> payload(made.payload_);
  made.bytes_.resize(wire::frame_size(tags.size(), payload.size()));
  const wire::frame_header header{*to, link.mac, tags, port.ethertype()};
  const auto built = wire::build_frame_into(made.bytes_, header, payload, link.mtu);
  if (!built) return refuse(exit_failed, built.error());
  made.probe_at_ = wire::ethernet_header_size + tags.size() * wire::vlan_tag_size;
  return made;
}

byte_span probe_frame::with(const wire::probe& probe) {
  probe.write(std::span(bytes_).subspan(probe_at_).first<wire::probe::size>());
  return bytes_;
}

std::uint64_t random_run() {
  std::random_device source;
  return std::uint64_t{source()} << 32U | source();
}

}  // namespace strata::cli
