// The pair of endpoints: how it is found, how it ends, and receiving. Sending: session_send.cpp.
#include "ipc/session.hpp"

#include <algorithm>
#include <utility>

namespace strata::ipc {

namespace {

using namespace std::chrono_literals;
using wire::ipc_acknowledgement;
using wire::ipc_kind;

constexpr auto first_hello_interval = 10ms;
constexpr auto longest_hello_interval = 200ms;
// A quarter of the peer timeout passes before the first probe; further probes follow. The peer is
// given up only after this number of probes, so that it does not suffer for our own sleep, and so
// that a wire that loses every fifth frame each way does not look like a dead peer.
constexpr int probes_before_loss = 15;
constexpr int patience = 20;
// If a peer answers but never acknowledges a frame, it cannot accept the frame.
constexpr std::uint32_t most_transmissions = 64;

}  // namespace

session::session(options options, outbox& out, ipc_time now)
    : how_(std::move(options)),
      out_(out),
      random_(how_.seed),
      early_(ipc_acknowledgement::max_selective) {
  planned_.reserve(ipc_acknowledgement::max_selective + control_count);
  search(now);
}

void session::search(ipc_time now) {
  do {
    id_ = random_();
  } while (id_ == 0);
  peer_ = 0;
  state_ = state::searching;
  searching_since_ = now;
  hello_at_ = now;
  hello_interval_ = first_hello_interval;
  refused_ = false;
  owed_ = {};
}

void session::hurry(ipc_time now) {
  hello_interval_ = first_hello_interval;
  hello_at_ = std::min(*hello_at_, now + hello_interval_);
}

void session::pair_with(std::uint64_t peer, std::uint32_t window, ipc_time now) {
  peer_ = peer;
  state_ = state::paired;
  hello_at_.reset();
  refused_ = false;
  timing_ = {};
  next_ = out_.first();
  order_ = 0;
  highest_arrived_ = 0;
  under_way_ = 0;
  lost_ = 0;
  peer_window_ = window;
  last_acknowledgement_ = 0;
  resend_at_.reset();
  expected_ = 0;
  early_end_ = 0;
  advertised_room_ = room();
  acknowledgements_ = 0;
  received_at_ = now;
  probed_at_ = now;
  probes_ = 0;
  is_proven_ = false;
  owe(confirmation, peer);
}

void session::lose_peer(errc code, std::string reason) {
  const auto left = out_.reset();
  reason += ", and ";
  reason += left == 0 ? "all sent messages have arrived"
                      : "the last " + std::to_string(left) + " messages sent may not have arrived";
  failure_ = error{.code = code,
                   .operation = "continue with the peer on " + how_.name,
                   .reason = std::move(reason),
                   .remedy = left == 0 ? "wait for a new peer" : "send them again to a new peer",
                   .offset = {}};
  state_ = state::lost;
  for (auto& each : early_) each.reset();
  early_bytes_ = 0;
  early_count_ = 0;
  owed_ = {};
}

std::optional<error> session::take_failure(ipc_time now) {
  if (!failure_) return std::nullopt;
  if (state_ == state::lost) search(now);
  return std::exchange(failure_, std::nullopt);
}

void session::receive(const wire::ipc_frame& frame, ipc_time now) {
  const auto& header = frame.header();
  if (header.kind == ipc_kind::hello) return on_hello(frame, now);
  if (header.kind == ipc_kind::busy && header.receiver == id_) return on_busy(header, now);
  if (state_ != state::paired || header.sender != peer_ || header.receiver != id_) {
    ++counted_.refused;
    // The sender accepted our offer, but its confirmation was lost: ask for another.
    if (state_ == state::searching && header.receiver == id_) hurry(now);
    return;
  }
  received_at_ = now;
  probes_ = 0;
  is_proven_ = true;
  switch (header.kind) {
    case ipc_kind::packed:
    case ipc_kind::fragment: return on_data(frame);
    case ipc_kind::acknowledgement: return on_acknowledgement(frame, now);
    case ipc_kind::probe: return owe(acknowledge, peer_);
    case ipc_kind::bye: return on_bye(header);
    case ipc_kind::hello:
    case ipc_kind::busy: return;
  }
}

void session::on_hello(const wire::ipc_frame& frame, ipc_time now) {
  const auto& header = frame.header();
  const auto offered = ipc_acknowledgement::parse(frame.body());
  const bool to_me = header.receiver == id_;
  if (!offered || header.sender == 0 || (header.receiver != 0 && !to_me)) {
    ++counted_.refused;
    return;
  }
  switch (state_) {
    case state::lost: return;
    case state::searching:
      if (to_me) return pair_with(header.sender, offered->window, now);
      return owe(confirmation, header.sender);
    case state::paired:
      if (header.sender != peer_) {
        ++counted_.refused;
        owe(refusal, header.sender);
      } else if (!to_me) {
        owe(confirmation, peer_);  // it has not received the first one
      }
  }
}

void session::on_busy(const wire::ipc_header& header, ipc_time now) {
  if (state_ == state::searching) refused_ = true;
  if (state_ != state::paired || header.sender != peer_) return;
  if (is_proven_) {
    return lose_peer(errc::connection_closed, "the peer has connected to another");
  }
  // The peer accepted another offer first. Others may be in the same situation: do not retry all at
  // once.
  out_.rewind();
  search(now);
  refused_ = true;
  hello_at_ = now + jitter(first_hello_interval);
}

std::chrono::nanoseconds session::jitter(std::chrono::nanoseconds nanoseconds) {
  return nanoseconds / 2 + nanoseconds * static_cast<int>(random_() % 1024) / 1024;
}

void session::on_data(const wire::ipc_frame& frame) {
  owe(acknowledge, peer_);
  const auto& header = frame.header();
  const auto size = wire::ipc_header_size + frame.body().size();
  if (header.sequence < expected_) {
    ++counted_.duplicates;
    return;
  }
  // The bit map covers max_selective frames behind the expected one, which has no bit.
  if (header.sequence - expected_ >= early_.size() ||
      inbox_bytes_ + early_bytes_ + size > how_.window) {
    ++counted_.refused;
    return;
  }
  arrived_frame arrived{header, {frame.body().begin(), frame.body().end()}};
  if (header.sequence > expected_) {
    auto& place = early_[header.sequence % early_.size()];
    if (place) {
      ++counted_.duplicates;
      return;
    }
    place = std::move(arrived);
    ++early_count_;
    early_bytes_ += size;
    early_end_ = std::max(early_end_, header.sequence + 1);
    return;
  }
  inbox_.push_back(std::move(arrived));
  inbox_bytes_ += size;
  ++expected_;
  while (early_count_ != 0) {
    auto& place = early_[expected_ % early_.size()];
    if (!place) break;
    const auto bytes = wire::ipc_header_size + place->body.size();
    early_bytes_ -= bytes;
    inbox_bytes_ += bytes;
    inbox_.push_back(std::move(*place));
    place.reset();
    --early_count_;
    ++expected_;
  }
}

void session::pop_front() {
  inbox_bytes_ -= wire::ipc_header_size + inbox_.front().body.size();
  inbox_.pop_front();
  // The sender may wait for room: notify it if there is much more than it knows of.
  if (state_ == state::paired && room() > advertised_room_ + how_.window / 2)
    owe(acknowledge, peer_);
}

std::uint32_t session::room() const {
  return static_cast<std::uint32_t>(how_.window - inbox_bytes_);
}

void session::on_bye(const wire::ipc_header& header) {
  std::string reason = "the peer closed the channel";
  if (header.sequence > expected_) {
    reason += ", " + std::to_string(header.sequence - expected_) + " of its frames did not arrive";
  }
  lose_peer(errc::connection_closed, std::move(reason));
}

void session::pass(ipc_time now) {
  switch (state_) {
    case state::lost: return;
    case state::paired: check_timers(now); return check_peer(now);
    case state::searching: break;
  }
  if (hello_at_ && now >= *hello_at_) {
    owe(offer, 0);
    hello_at_ = now + jitter(hello_interval_);
    hello_interval_ =
        std::min<std::chrono::milliseconds>(2 * hello_interval_, longest_hello_interval);
  }
  // The channel's two ends may be one that died and one that has not noticed yet: wait for the
  // latter.
  if (refused_ && !failure_ && now - searching_since_ > 2 * how_.peer_timeout) {
    failure_ = error{.code = errc::conflict,
                     .operation = "find a peer on " + how_.name,
                     .reason = "the channel already has two ends",
                     .remedy = "use another channel name, or stop one of the two",
                     .offset = {}};
    searching_since_ = now;
    refused_ = false;
  }
}

std::chrono::nanoseconds session::probe_interval() const {
  if (is_stalled()) return timing_.timeout();
  return how_.peer_timeout / (probes_ == 0 && is_proven_ ? 4 : patience);
}

void session::check_peer(ipc_time now) {
  if (out_.first() != next_ && out_[out_.first()].transmissions >= most_transmissions) {
    return lose_peer(errc::connection_closed, "the peer does not acknowledge a frame of " +
                                                  std::to_string(out_[out_.first()].size) +
                                                  " bytes (check the MTUs of both interfaces)");
  }
  if (now - std::max(received_at_, probed_at_) < probe_interval()) return;
  if (probes_ >= probes_before_loss && now - received_at_ >= how_.peer_timeout) {
    return lose_peer(
        errc::connection_closed,
        "the peer has not responded for " + std::to_string(how_.peer_timeout.count()) + " ms");
  }
  ++probes_;
  probed_at_ = now;
  if (is_stalled()) timing_.back_off();
  owe(probing, peer_);
  if (!is_proven_) owe(confirmation, peer_);
}

std::optional<ipc_time> session::deadline() const {
  if (state_ == state::searching) return hello_at_;
  if (state_ != state::paired) return std::nullopt;
  auto next = std::max(received_at_, probed_at_) + probe_interval();
  if (resend_at_) next = std::min(next, *resend_at_);
  return next;
}

}  // namespace strata::ipc
