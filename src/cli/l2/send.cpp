// strata l2 send
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/l2/frame_flags.hpp"
#include "cli/l2/open_socket.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/input_lines.hpp"
#include "cli/terminal/listing.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::cli {

namespace {

// Sends frames with the same header, one for each message.
class frame_sender {
 public:
  frame_sender(l2::raw_socket& socket, const mac_address& address, std::vector<wire::vlan_tag> tags,
               std::uint16_t ethertype, std::chrono::milliseconds timeout)
      : over_(socket),
        to_(address),
        tags_(std::move(tags)),
        ethertype_(ethertype),
        timeout_(timeout) {}

  outcome<> send(std::string_view message) {
    const wire::frame_header header{to_, over_.link().mac, tags_, ethertype_};
    std::vector<std::byte> frame(wire::frame_size(tags_.size(), message.size()));
    const auto built = wire::build_frame_into(frame, header, as_bytes(message), over_.link().mtu);
    if (!built) return refuse(exit_failed, built.error());
    if (auto sent = over_.send_raw(frame, timeout_); !sent)
      return refuse(exit_failed, sent.error());
    ++frames_;
    bytes_ += frame.size();
    return {};
  }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  l2::raw_socket& over_;
  mac_address to_;
  std::vector<wire::vlan_tag> tags_;
  std::uint16_t ethertype_;
  std::chrono::milliseconds timeout_;
  std::uint64_t frames_ = 0;
  std::uint64_t bytes_ = 0;
};

outcome<> send_all(const invocation& call, frame_sender& sender) {
  if (call.words.size() < 2 || call.words[1] == "-") {
    return for_each_input_line([&](std::string_view line) { return sender.send(line); });
  }
  const auto count = call.flags.value("count", std::uint64_t{1});
  const std::chrono::duration<double> interval(call.flags.value("interval", 0.0));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i != 0 && interval.count() > 0) std::this_thread::sleep_for(interval);
    if (auto sent = sender.send(call.words[1]); !sent) return sent;
  }
  return {};
}

}  // namespace

outcome<int> run_l2_send(const invocation& call) {
  const auto type = ethertype_flag(call, wire::ethertype_experimental);
  if (!type) return std::unexpected(type.error());
  const auto to = mac_flag(call, "dst");
  if (!to) return std::unexpected(to.error());
  auto over = open_raw_socket(call, {.receives = false});
  if (!over) return std::unexpected(over.error());
  const std::chrono::duration<double> timeout(call.flags.value("timeout", 5.0));
  frame_sender sender(*over, to->value_or(mac_address::broadcast()), tag_flags(call), **type,
                      std::chrono::ceil<std::chrono::milliseconds>(timeout));
  if (auto sent = send_all(call, sender); !sent) return std::unexpected(sent.error());
  if (call.as_json) {
    print_json({{"frames", sender.frames()}, {"bytes", sender.bytes()}});
  }
  return exit_done;
}

}  // namespace strata::cli
