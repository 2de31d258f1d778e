// strata xdp gen: sends UDP packets as fast as AF_XDP takes them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/l2/frame_flags.hpp"
#include "cli/l2/link_losses.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/xdp/flags.hpp"
#include "cli/xdp/numbered_packet.hpp"
#include "cli/xdp/rows.hpp"
#include "strata/l2/interface.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// How long the last frames may take to be sent.
constexpr auto timeout = 2s;

// A frame longer than a chunk of the UMEM takes several consecutive chunks.
std::uint32_t chunks_of(std::size_t frame) {
  const std::size_t chunk = xdp::umem_options{}.frame_size;
  return static_cast<std::uint32_t>((frame + chunk - 1) / chunk);
}

class generator {
 public:
  generator(xdp::socket socket, numbered_packet packet)
      : over_(std::move(socket)),
        packet_(std::move(packet)),
        chunks_(chunks_of(packet_.frame().size())) {
    const auto& memory = *over_.memory();
    for (std::uint32_t i = 0; i + chunks_ <= memory.frame_count(); i += chunks_) {
      free_.push_back(memory.frame_at(i));
      copy_bytes(packet_.frame(), bytes_at(memory.frame_at(i)));
    }
  }

  result<void> run(std::uint64_t count) {
    began_ = clock::now();
    auto outcome = send(count);
    ended_ = clock::now();
    return outcome;
  }

  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(ended_ - began_).count();
  }
  [[nodiscard]] bool is_zerocopy() const { return over_.is_zerocopy(); }

 private:
  [[nodiscard]] mutable_byte_span bytes_at(std::uint64_t address) const {
    return over_.memory()->memory().subspan(address, packet_.frame().size());
  }

  result<void> send(std::uint64_t count) {
    while (queued_ < count && !is_interrupted()) {
      fill(std::min<std::uint64_t>(batch, count - queued_));
      if (auto pushed = push(); !pushed) return pushed;
    }
    const auto limit = clock::now() + timeout;
    while (sent_ != queued_ && clock::now() < limit) {
      if (auto pushed = push(); !pushed) return pushed;
    }
    return {};
  }

  void fill(std::uint64_t most) {
    const auto room = std::min<std::uint64_t>(most, free_.size());
    const auto places = over_.transmit().reserve(static_cast<std::uint32_t>(room) * chunks_);
    const auto frames = places.size() / chunks_;
    for (std::uint32_t i = 0; i < frames; ++i) {
      const auto address = free_.back();
      free_.pop_back();
      packet_.number(bytes_at(address), queued_++);
      for (std::uint32_t part = 0; part < chunks_; ++part) {
        places[i * chunks_ + part] = part_of(address, part);
      }
    }
    if (frames != 0) over_.transmit().submit(frames * chunks_);
  }

  [[nodiscard]] xdp::descriptor part_of(std::uint64_t address, std::uint32_t part) const {
    const std::size_t chunk = over_.memory()->frame_size();
    const bool is_last = part + 1 == chunks_;
    const auto length = is_last ? packet_.frame().size() - part * chunk : chunk;
    return {.address = address + part * chunk,
            .length = static_cast<std::uint32_t>(length),
            .options = is_last ? 0 : xdp::descriptor::continues};
  }

  result<void> push() {
    if (!over_.is_zerocopy() || over_.transmit().needs_wakeup()) {
      if (auto woken = over_.wake_transmit(); !woken) return std::unexpected(woken.error());
    }
    const auto done = over_.completion().peek(batch);
    const auto before_last = std::uint64_t{chunks_ - 1} * over_.memory()->frame_size();
    for (std::uint32_t i = 0; i < done.size(); ++i) {
      // A frame is sent completely when its last chunk is.
      const auto first = done[i] - before_last;
      if (done[i] < before_last || first % (before_last + over_.memory()->frame_size()) != 0) {
        continue;
      }
      free_.push_back(first);
      ++sent_;
    }
    if (!done.empty()) over_.completion().release(done.size());
    return {};
  }

  xdp::socket over_;
  numbered_packet packet_;
  std::uint32_t chunks_;
  std::vector<std::uint64_t> free_;  // free places where frames begin
  std::uint64_t queued_ = 0;
  std::uint64_t sent_ = 0;
  clock::time_point began_;
  clock::time_point ended_;
};

outcome<numbered_packet> packet_of(const invocation& call, const mac_address& own) {
  const auto to = mac_flag(call, "dmac");
  if (!to) return std::unexpected(to.error());
  const auto from = mac_flag(call, "smac");
  if (!from) return std::unexpected(from.error());
  const auto receiver = udp_flag(call, "dip", "192.0.2.2:9000");
  if (!receiver) return std::unexpected(receiver.error());
  const auto sender = udp_flag(call, "sip", "192.0.2.1:9000");
  if (!sender) return std::unexpected(sender.error());
  auto made = numbered_packet::create(to->value_or(mac_address::broadcast()), from->value_or(own),
                                      *receiver, *sender, call.flags.value("size", 60U));
  if (!made) return refuse(exit_failed, made.error());
  return std::move(*made);
}

void report(const invocation& call, const generator& generator, const link_losses& losses) {
  const auto rate = static_cast<double>(generator.sent()) / std::max(generator.seconds(), 1e-9);
  const auto dropped = losses.dropped();
  if (call.as_json) {
    nlohmann::json document{{"packets", generator.sent()},
                            {"seconds", generator.seconds()},
                            {"packets_per_second", rate},
                            {"zero_copy", generator.is_zerocopy()}};
    if (dropped) document["dropped_by_interface"] = *dropped;
    print_json(document);
    return;
  }
  print(fmt::format("[udp_pkt_gen] {} (pkts) {:.3f} (s) {:.0f} (pps)\n", generator.sent(),
                    generator.seconds(), rate));
  if (dropped.value_or(0) != 0) {
    print(fmt::format("[udp_pkt_gen] {} (dropped by '{}')\n", *dropped, call.words[0]));
  }
}

}  // namespace

outcome<int> run_xdp_gen(const invocation& call) {
  const auto link = l2::interface::query(call.words[0]);
  if (!link) return refuse_open(link.error());
  auto packet = packet_of(call, link->mac);
  if (!packet) return std::unexpected(packet.error());
  if (const auto most = link->mtu + wire::ethernet_header_size; packet->frame().size() > most) {
    return refuse(exit_misused,
                  fmt::format("--size cannot be {}: '{}' has an MTU of {}, so a frame has at most "
                              "{} bytes",
                              packet->frame().size(), link->name, link->mtu, most));
  }
  auto options = socket_flags(call);
  options.receive_size = 0;
  options.multi_buffer = chunks_of(packet->frame().size()) > 1;
  auto over = open_queue_of(call, link->name, options);
  if (!over) return std::unexpected(over.error());
  watch_for_interrupt();
  generator work(std::move(over->socket), std::move(*packet));
  const link_losses losses(link->name);
  const auto done = work.run(count_flag(call));
  report(call, work, losses);
  if (!done) return refuse(exit_failed, done.error());
  if (const auto trouble = losses.trouble(work.sent())) return refuse(exit_failed, *trouble);
  return exit_done;
}

}  // namespace strata::cli
