#include "cli/xdp/flags.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>

#include "cli/l2/frame_flags.hpp"

namespace strata::cli {

std::uint32_t queue_flag(const invocation& call) { return call.flags.value("queue", 0U); }

std::uint64_t count_flag(const invocation& call) {
  return call.flags.value("count", std::uint64_t{UINT64_MAX});
}

std::optional<std::chrono::steady_clock::duration> silence_flag(const invocation& call) {
  if (!call.flags.contains("timeout")) return {};
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(call.flags.value("timeout", 0.0)));
}

xdp::socket_options socket_flags(const invocation& call) {
  xdp::socket_options options;
  options.need_wakeup = call.is_set("need_wakeup");
  options.mode = call.is_set("zero_copy") ? xdp::copy_mode::zerocopy : xdp::copy_mode::automatic;
  if (call.flags.contains("busy_poll")) {
    options.busy_poll = {.duration = std::chrono::microseconds(call.flags.value("busy_poll", 20U))};
  }
  return options;
}

outcome<xdp::attach_mode> attach_flag(const invocation& call) {
  const auto mode = call.text("mode", "automatic");
  if (mode == "automatic") return xdp::attach_mode::automatic;
  if (mode == "native") return xdp::attach_mode::native;
  if (mode == "generic") return xdp::attach_mode::generic;
  return refuse(exit_misused,
                fmt::format("--mode cannot be '{}': say automatic, native or generic", mode));
}

outcome<xdp::filter> filter_flags(const invocation& call) {
  const auto type = ethertype_flag(call, std::nullopt);
  if (!type) return std::unexpected(type.error());
  const auto to = mac_flag(call, "dst");
  if (!to) return std::unexpected(to.error());
  xdp::filter which{.ethertype = *type, .vlan_id = {}, .destination = *to, .udp_port = {}};
  const auto number = [&](std::string_view key) { return call.flags.value(key, std::uint16_t{0}); };
  if (call.flags.contains("vlan")) which.vlan_id = number("vlan");
  if (call.flags.contains("udp_port")) which.udp_port = number("udp_port");
  return which;
}

outcome<wire::udp_endpoint> udp_flag(const invocation& call, std::string_view key,
                                     std::string_view otherwise) {
  const auto given = call.text(key, otherwise);
  const auto colon = given.rfind(':');
  const auto digits = std::string_view(given).substr(colon == std::string::npos ? 0 : colon + 1);
  wire::udp_endpoint end;
  const char* const last = digits.data() + digits.size();
  const auto [rest, code] = std::from_chars(digits.data(), last, end.port);
  const auto address = wire::ipv4_address::from_text(given.substr(0, colon));
  if (colon == std::string::npos || !address || digits.empty() || code != std::errc{} ||
      rest != last) {
    return refuse(exit_misused, fmt::format("--{} cannot be '{}': write ADDRESS:PORT, as in "
                                            "192.0.2.1:9000",
                                            key, given));
  }
  end.address = *address;
  return end;
}

outcome<open_queue> open_queue_of(const invocation& call, const std::string& name,
                                  const xdp::socket_options& options) {
  const auto mode = attach_flag(call);
  if (!mode) return std::unexpected(mode.error());
  const auto which = filter_flags(call);
  if (!which) return std::unexpected(which.error());
  if (call.is_set("through_daemon")) {
    auto given = xdp::open_through_daemon({.interface_name = name,
                                           .queue = queue_flag(call),
                                           .which = *which,
                                           .attach = *mode,
                                           .memory = {},
                                           .socket = options});
    if (!given) return refuse_through_daemon(given.error());
    return open_queue{.socket = std::move(given->within),
                      .is_native = given->is_native,
                      .reason = {},
                      .brings = {},
                      .connection = std::move(given->connection)};
  }
  auto memory = xdp::umem::create();
  if (!memory) return refuse_open(memory.error());
  auto made = xdp::socket::create(std::move(*memory), name, queue_flag(call), options);
  if (!made) return refuse_open(made.error());
  open_queue opened{std::move(*made), false, {}, {}, {}};
  if (options.receive_size == 0) return opened;
  const auto program = xdp::program::attach(name, *mode);
  if (!program) return refuse_open(program.error());
  auto brings = (*program)->add(*which, opened.socket);
  if (!brings) return refuse_open(brings.error());
  opened.is_native = (*program)->is_native();
  opened.reason = (*program)->reason();
  opened.brings = std::move(*brings);
  return opened;
}

}  // namespace strata::cli
