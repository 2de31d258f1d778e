#include "strata/xdp/port.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "strata/wire/ethernet.hpp"
#include "xdp/attachment.hpp"

namespace strata::xdp {

namespace {

constexpr std::uint32_t batch = 64;
// The number of chunks that one call in copy mode sends.
constexpr std::size_t taken_by_a_call = 32;

}  // namespace

result<port> port::open(std::string_view interface_name, std::uint32_t queue,
                        const port_options& options) {
  auto memory = umem::create(options.memory);
  if (!memory) return std::unexpected(memory.error());
  auto opened = socket::create(std::move(*memory), interface_name, queue, options.socket);
  if (!opened) return std::unexpected(opened.error());
  port made(std::move(*opened), std::string(interface_name), options.socket.multi_buffer);
  if (auto known = made.read_mtu(); !known) return std::unexpected(known.error());
  if (options.socket.receive_size == 0) return made;
  auto attached = program::attach(interface_name, options.attach);
  if (!attached) return std::unexpected(attached.error());
  auto added = (*attached)->add(options.which, made.socket_);
  if (!added) return std::unexpected(added.error());
  made.is_native_ = (*attached)->is_native();
  made.route_ = std::move(*added);
  return made;
}

result<port> port::open_through_daemon(std::string_view interface_name, std::uint32_t queue,
                                       const port_options& options, const std::string& path) {
  auto given = xdp::open_through_daemon({.interface_name = std::string(interface_name),
                                         .queue = queue,
                                         .which = options.which,
                                         .attach = options.attach,
                                         .memory = options.memory,
                                         .socket = options.socket},
                                        path);
  if (!given) return std::unexpected(given.error());
  port made(std::move(given->within), std::string(interface_name), options.socket.multi_buffer);
  if (auto known = made.read_mtu(); !known) return std::unexpected(known.error());
  made.is_native_ = given->is_native;
  made.connection_ = std::move(given->connection);
  return made;
}

// Half of the frames are for receiving, as far as the fill ring holds them, the rest for sending.
port::port(socket socket, std::string name, bool is_multi_buffer)
    : socket_(std::move(socket)), name_(std::move(name)), is_multi_buffer_(is_multi_buffer) {
  const auto& memory = *socket_.memory();
  const auto most = socket_.receive().size() == 0    ? 0
                    : socket_.transmit().size() == 0 ? memory.frame_count()
                                                     : memory.frame_count() / 2;
  const auto places = socket_.fill().reserve(most);
  for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = memory.frame_at(i);
  socket_.fill().submit(places.size());
  for (auto i = places.size(); i < memory.frame_count(); ++i) free_.push_back(memory.frame_at(i));
}

// --- sending

void port::reap() {
  for (;;) {
    const auto sent = socket_.completion().peek(batch);
    if (sent.empty()) return;
    for (std::uint32_t i = 0; i < sent.size(); ++i) {
      free_.push_back(socket_.memory()->frame_of(sent[i]));
    }
    in_flight_ -= sent.size();
    socket_.completion().release(sent.size());
  }
}

// Queues all chunks of a frame, or none.
bool port::queue(byte_span frame) {
  const std::size_t chunk = socket_.memory()->frame_size();
  const auto count = static_cast<std::uint32_t>((frame.size() + chunk - 1) / chunk);
  const auto places = socket_.transmit().reserve(count);
  if (places.size() != count || free_.size() < count) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto part = frame.subspan(i * chunk, std::min(chunk, frame.size() - i * chunk));
    places[i] = {.address = free_.back(),
                 .length = static_cast<std::uint32_t>(part.size()),
                 .options = i + 1 == count ? 0 : descriptor::continues};
    copy_bytes(part, socket_.memory()->memory().subspan(free_.back()));
    free_.pop_back();
  }
  socket_.transmit().submit(count);
  in_flight_ += count;
  return true;
}

result<void> port::read_mtu() {
  const auto found = mtu_of(name_, "read the MTU of '" + name_ + "'");
  if (!found) return std::unexpected(found.error());
  mtu_ = *found;
  return {};
}

bool port::fits(byte_span frame) const {
  const auto most = mtu_ + wire::ethernet_header_size;
  return frame.size() >= wire::ethernet_header_size && frame.size() <= most &&
         (is_multi_buffer_ || frame.size() <= socket_.memory()->frame_size());
}

// Returns the error for a frame that does not fit; a tagged frame may be longer.
std::optional<error> port::refusal_of(byte_span frame) const {
  const auto refuse = [&](errc code, std::string reason, std::string remedy) {
    return error{.code = code,
                 .operation = "send a frame of " + std::to_string(frame.size()) +
                              " bytes over AF_XDP on '" + name_ + "'",
                 .sys_errno = code == errc::limit_exceeded ? EMSGSIZE : 0,
                 .reason = std::move(reason),
                 .remedy = std::move(remedy),
                 .offset = {}};
  };
  const auto view = wire::ethernet_view::parse(frame);
  if (!view) {
    return refuse(errc::invalid_argument, "the Ethernet header is incomplete",
                  "start the frame with both addresses and the EtherType");
  }
  const auto chunk = socket_.memory()->frame_size();
  if (!is_multi_buffer_ && frame.size() > chunk) {
    return refuse(errc::invalid_argument,
                  "a chunk of the UMEM has " + std::to_string(chunk) + " bytes",
                  "use multi-buffer for larger frames");
  }
  if (frame.size() <= mtu_ + view->header_size()) return {};
  return refuse(errc::limit_exceeded, "the MTU was " + std::to_string(mtu_),
                "send smaller frames or raise the MTU (ip link set " + name_ + " mtu N)");
}

result<void> port::push() {
  if (socket_.is_zerocopy() && !socket_.transmit().needs_wakeup()) return {};
  // Each call sends a part, so several are needed. More calls would not help: chunks for which
  // there is still no room then would find none.
  for (auto calls = in_flight_ / taken_by_a_call + 2; calls != 0; --calls) {
    const auto done = socket_.wake_transmit();
    if (!done) return std::unexpected(done.error());
    if (*done) return {};
    reap();
  }
  return {};
}

result<std::size_t> port::try_send(std::span<const byte_span> frames) {
  reap();
  std::size_t taken = 0;
  for (; taken < frames.size(); ++taken) {
    const auto& frame = frames[taken];
    auto refused = fits(frame) ? std::nullopt : refusal_of(frame);
    if (refused && taken == 0) return std::unexpected(std::move(*refused));
    if (refused) break;
    if (!queue(frame)) break;
  }
  // Also pushes frames that an earlier call left behind.
  if (in_flight_ != 0) {
    if (auto pushed = push(); !pushed && taken == 0) return std::unexpected(pushed.error());
  }
  return taken;
}

result<bool> port::flush(std::optional<std::chrono::milliseconds> timeout) {
  constexpr std::chrono::microseconds pause(50);
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    if (auto pushed = try_send({}); !pushed) return std::unexpected(pushed.error());
    if (in_flight_ == 0) return true;
    if (timeout && std::chrono::steady_clock::now() - begun >= *timeout) return false;
    std::this_thread::sleep_for(pause);
  }
}

// --- receiving

void port::give_back() {
  const auto places = socket_.fill().reserve(static_cast<std::uint32_t>(returned_.size()));
  for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = returned_[i];
  socket_.fill().submit(places.size());
  returned_.erase(returned_.begin(), returned_.begin() + places.size());
}

result<std::size_t> port::try_receive(std::span<byte_span> frames) {
  give_back();
  if (socket_.fill().needs_wakeup()) {
    if (auto woken = socket_.wake_receive(); !woken) return std::unexpected(woken.error());
  }
  assembled_.clear();
  std::size_t count = 0;
  while (count < frames.size()) {
    const auto there = socket_.receive().peek(static_cast<std::uint32_t>(frames.size() - count));
    if (there.empty()) break;
    for (std::uint32_t i = 0; i < there.size(); ++i) {
      const auto bytes = socket_.memory()->bytes(there[i]);
      returned_.push_back(socket_.memory()->frame_of(there[i].address));
      const bool ends = (there[i].options & descriptor::continues) == 0;
      if (ends && partial_.empty()) {
        frames[count++] = bytes;
        continue;
      }
      partial_.insert(partial_.end(), bytes.begin(), bytes.end());
      if (ends) frames[count++] = assembled_.emplace_back(std::exchange(partial_, {}));
    }
    socket_.receive().release(there.size());
  }
  return count;
}

}  // namespace strata::xdp
