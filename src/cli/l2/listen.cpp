// strata l2 recv and strata l2 dump: frames as they arrive, until Ctrl-C, a count or a silence.
#include <fmt/format.h>
#include <net/if.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/l2/frame_flags.hpp"
#include "cli/l2/frame_text.hpp"
#include "cli/l2/listening.hpp"
#include "cli/l2/open_socket.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/hex_dump.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/output.hpp"
#include "strata/l2/decorators/capture_file.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/ethernet.hpp"
#include "text/readable.hpp"

namespace strata::cli {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t slot_size = 65536 + 64;
constexpr std::size_t slot_count = 32;
constexpr auto all_interfaces = "any";  // for `l2 dump`, as in tcpdump

// The interface of a frame, which may have been removed since.
std::string name_of_interface(int index) {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(static_cast<unsigned>(index), name.data()) != nullptr
             ? name.data()
             : fmt::format("interface {}", index);
}

// Where the frames go.
class frame_sink {
 public:
  frame_sink() = default;
  frame_sink(const frame_sink&) = delete;
  frame_sink& operator=(const frame_sink&) = delete;
  virtual ~frame_sink() = default;
  virtual outcome<> take(const l2::received_frame& frame) = 0;
  virtual outcome<> end() { return {}; }
};

class message_sink final : public frame_sink {
 public:
  outcome<> take(const l2::received_frame& frame) override {
    const auto view = wire::ethernet_view::parse(frame.bytes);
    if (view) print(message_text(*view) + "\n");
    return {};
  }
};

class line_sink final : public frame_sink {
 public:
  line_sink(bool with_hex, bool with_interface)
      : with_hex_(with_hex), with_interface_(with_interface) {}
  outcome<> take(const l2::received_frame& frame) override {
    if (with_interface_) print(name_of_interface(frame.interface_index) + " ");
    print(describe_frame(frame) + "\n" + (with_hex_ ? hex_dump(frame.bytes) : ""));
    return {};
  }

 private:
  bool with_hex_;
  bool with_interface_;
};

// One array, written incrementally.
class json_sink final : public frame_sink {
 public:
  outcome<> take(const l2::received_frame& frame) override {
    auto made = frame_to_json(frame);
    made["interface"] = name_of_interface(frame.interface_index);
    print((std::exchange(begun_, true) ? ",\n" : "[\n") + text::escaped_for_json(made.dump()));
    return {};
  }
  outcome<> end() override {
    print(begun_ ? "\n]\n" : "[]\n");
    return {};
  }

 private:
  bool begun_ = false;
};

class file_sink final : public frame_sink {
 public:
  explicit file_sink(l2::capture_file file) : file_(std::move(file)) {}
  outcome<> take(const l2::received_frame& frame) override {
    if (auto kept = file_.write(frame); !kept) return refuse(exit_failed, kept.error());
    return {};
  }
  outcome<> end() override {
    if (auto kept = file_.flush(); !kept) return refuse(exit_failed, kept.error());
    return {};
  }

 private:
  l2::capture_file file_;
};

outcome<l2::raw_socket> open_listener(const invocation& call, std::optional<std::uint16_t> type,
                                      bool receives_all) {
  const auto source = mac_flag(call, "src");
  if (!source) return std::unexpected(source.error());
  l2::raw_socket_options options;
  options.filter.ethertype = type;
  options.filter.source = *source;
  if (call.flags.contains("vlan")) {
    options.filter.vlan_id = call.flags.value("vlan", std::uint16_t{0});
  }
  options.promiscuous = call.is_set("promiscuous");
  options.timestamps = l2::timestamping::software;
  if (!receives_all) return open_raw_socket(call, options);
  auto made = l2::raw_socket::create_on_all(options);
  if (!made) return refuse_open(made.error());
  return std::move(*made);
}

outcome<> listen_to(l2::raw_socket& socket, listening& state, frame_sink& sink) {
  std::vector<std::byte> memory(slot_size * slot_count);
  std::array<l2::frame_slot, slot_count> slots;
  for (std::size_t i = 0; i < slot_count; ++i) {
    slots[i].memory = std::span(memory).subspan(i * slot_size, slot_size);
  }
  while (!state.is_over()) {
    const auto ready = l2::wait_readable(socket, interrupt_interval);
    if (!ready) return refuse(exit_failed, ready.error());
    const auto room = std::min<std::uint64_t>(slot_count, state.most - state.taken);
    const auto count = socket.try_receive(std::span(slots).first(room));
    if (!count) {
      // A link that is down may come back; a removed interface will not.
      if (count.error().code == errc::not_found) return refuse(exit_failed, count.error());
      complain(describe(count.error()));
      continue;
    }
    if (*count != 0) state.note_frame();
    for (const auto& slot : std::span(slots).first(*count)) {
      if (auto taken = sink.take(slot.frame); !taken) return taken;
      ++state.taken;
    }
  }
  return {};
}

outcome<int> listen(const invocation& call, std::optional<std::uint16_t> type, frame_sink& sink,
                    bool receives_all = false) {
  auto on = open_listener(call, type, receives_all);
  if (!on) return std::unexpected(on.error());
  watch_for_interrupt();
  listening state(call);
  const auto received = listen_to(*on, state, sink);
  if (auto ended = sink.end(); !ended) return std::unexpected(ended.error());
  if (!received) return std::unexpected(received.error());
  if (const auto counted = on->statistics(); counted && counted->dropped != 0) {
    complain(fmt::format("{} frames were lost: they arrived faster than they were read",
                         counted->dropped));
  }
  return state.end_code();
}

}  // namespace

outcome<int> run_l2_recv(const invocation& call) {
  const auto type = ethertype_flag(call, wire::ethertype_experimental);
  if (!type) return std::unexpected(type.error());
  if (call.as_json) {
    json_sink sink;
    return listen(call, *type, sink);
  }
  message_sink sink;
  return listen(call, *type, sink);
}

outcome<int> run_l2_dump(const invocation& call) {
  const auto type = ethertype_flag(call, std::nullopt);
  if (!type) return std::unexpected(type.error());
  const bool receives_all = call.words[0] == all_interfaces;
  if (receives_all && (call.flags.contains("write") || call.is_set("through_daemon"))) {
    return refuse(exit_misused,
                  "'any' works neither with --write nor with --through-daemon; name one interface");
  }
  if (call.flags.contains("write")) {
    auto found = l2::interface::query(call.words[0]);
    if (!found) return refuse(exit_not_found, found.error());
    auto file = l2::capture_file::create(call.text("write"), *found);
    if (!file) return refuse(exit_failed, file.error());
    file_sink sink(std::move(*file));
    return listen(call, *type, sink);
  }
  if (call.as_json) {
    json_sink sink;
    return listen(call, *type, sink, receives_all);
  }
  line_sink sink(call.is_set("hex"), receives_all);
  return listen(call, *type, sink, receives_all);
}

}  // namespace strata::cli
