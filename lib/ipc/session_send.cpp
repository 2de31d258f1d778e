// Sending by an acknowledged IPC endpoint: new frames, retransmissions, and control messages.
#include <algorithm>

#include "ipc/session.hpp"
#include "strata/wire/big_endian.hpp"

namespace strata::ipc {

namespace {

using wire::ipc_acknowledgement;
using wire::ipc_kind;

// A frame counts as lost when this number of frames sent after it have arrived (RFC 5681, RFC
// 9002).
constexpr std::uint64_t reordering_threshold = 3;

}  // namespace

void session::on_acknowledgement(const wire::ipc_frame& frame, ipc_time now) {
  const auto said = ipc_acknowledgement::parse(frame.body());
  if (!said || said->next > next_) {
    ++counted_.refused;
    return;
  }
  if (frame.header().sequence > last_acknowledgement_) {
    last_acknowledgement_ = frame.header().sequence;
    peer_window_ = said->window;
  }
  if (said->next < out_.first()) return;  // overtaken by a later one
  const bool moved = out_.first() < said->next;
  while (out_.first() < said->next) {
    auto& first = out_[out_.first()];
    if (!first.has_arrived) note_arrival(first, now);
    if (first.is_lost) --lost_;
    under_way_ -= first.size;
    out_.drop_first();
  }
  for (std::size_t i = 0; i < said->selective_count(); ++i) {
    const auto sequence = said->next + 1 + i;
    if (sequence >= next_) break;
    auto& each = out_[sequence];
    if (!said->has_arrived(i) || each.has_arrived) continue;
    note_arrival(each, now);
    each.has_arrived = true;
    if (std::exchange(each.is_lost, false)) --lost_;
  }
  if (said->selective_count() != 0) find_gaps();
  if (moved) resend_at_.reset();
  if (out_.first() != next_ && !resend_at_) resend_at_ = now + timing_.timeout();
}

void session::note_arrival(const outgoing_frame& frame, ipc_time now) {
  const auto took = now - frame.sent_at;
  if (frame.transmissions == 1) {
    timing_.measure(took);
  } else if (took < timing_.fastest()) {
    return;  // an earlier transmission arrived, which proves nothing about frames sent before this
             // one
  }
  highest_arrived_ = std::max(highest_arrived_, frame.order);
}

void session::find_gaps() {
  for (auto sequence = out_.first(); sequence != next_; ++sequence) {
    auto& each = out_[sequence];
    if (each.has_arrived || each.is_lost) continue;
    if (each.order + reordering_threshold > highest_arrived_) continue;
    each.is_lost = true;
    ++lost_;
  }
}

void session::check_timers(ipc_time now) {
  if (!resend_at_ || now < *resend_at_) return;
  resend_at_.reset();
  bool timed_out = false;
  const auto limit = timing_.timeout();
  for (auto sequence = out_.first(); sequence != next_; ++sequence) {
    auto& each = out_[sequence];
    if (each.has_arrived || each.is_lost) continue;
    if (each.sent_at + limit > now) {
      resend_at_ = std::min(resend_at_.value_or(ipc_time::max()), each.sent_at + limit);
      continue;
    }
    each.is_lost = true;
    ++lost_;
    timed_out = true;
  }
  if (timed_out) timing_.back_off();
}

bool session::window_allows(std::size_t size) const {
  return next_ - out_.first() < ipc_acknowledgement::max_selective &&
         under_way_ + size <= peer_window_;
}

bool session::is_idle_for(std::size_t size) const {
  return state_ == state::paired && lost_ == 0 && next_ == out_.closed_end() && window_allows(size);
}

// Reports whether nothing is under way whose acknowledgement would bring a new window.
bool session::is_stalled() const {
  return out_.first() == next_ && next_ != out_.end() && !window_allows(out_[next_].size);
}

std::size_t session::plan(std::span<byte_span> frames) {
  planned_.clear();
  const auto add = [&](bool is_control, std::uint64_t number, byte_span bytes) {
    frames[planned_.size()] = bytes;
    planned_.push_back({is_control, number});
    return planned_.size() < frames.size();
  };
  for (std::size_t i = 0; i < control_count; ++i) {
    if (owed_[i] && !add(true, i, build(static_cast<control>(i)))) return planned_.size();
  }
  if (state_ != state::paired) return planned_.size();
  const wire::ipc_header header{
      .acknowledged = true, .channel = how_.channel, .sender = id_, .receiver = peer_};
  auto left = lost_;
  for (auto sequence = out_.first(); left != 0; ++sequence) {
    if (!out_[sequence].is_lost) continue;
    --left;
    if (!add(false, sequence, out_.sealed(sequence, header))) return planned_.size();
  }
  auto bytes = under_way_;
  for (auto sequence = next_; sequence != out_.closed_end(); ++sequence) {
    bytes += out_[sequence].size;
    if (bytes > peer_window_) break;
    if (sequence - out_.first() >= ipc_acknowledgement::max_selective) break;
    if (!add(false, sequence, out_.sealed(sequence, header))) break;
  }
  return planned_.size();
}

void session::sent(std::size_t count, ipc_time now) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto& each = planned_[i];
    if (each.is_control) {
      owed_[each.number] = false;
      if (each.number == acknowledge) {
        ++acknowledgements_;
        advertised_room_ = room();
      }
      continue;
    }
    auto& frame = out_[each.number];
    if (frame.transmissions++ == 0) {
      ++next_;
      under_way_ += frame.size;
    } else {
      ++counted_.retransmitted;
      frame.is_lost = false;
      --lost_;
    }
    frame.order = ++order_;
    frame.sent_at = now;
    if (!resend_at_) resend_at_ = now + timing_.timeout();
  }
}

void session::owe(control control, std::uint64_t end) {
  owed_[control] = true;
  owed_to_[control] = end;
}

byte_span session::build(control control) {
  constexpr std::array kinds{ipc_kind::hello, ipc_kind::hello, ipc_kind::busy,
                             ipc_kind::acknowledgement, ipc_kind::probe};
  const bool with_body = control != refusal && control != probing;
  return build_frame(control, kinds[control], owed_to_[control], acknowledgements_ + 1, with_body);
}

byte_span session::farewell() {
  if (state_ != state::paired) return {};
  return build_frame(control_count, ipc_kind::bye, peer_, next_, false);
}

byte_span session::build_frame(std::size_t slot, ipc_kind kind, std::uint64_t end,
                               std::uint64_t sequence, bool with_body) {
  const mutable_byte_span bytes(controls_[slot]);
  const auto payload = bytes.subspan(wire::ethernet_header_size);
  copy_bytes(how_.header.source.bytes(), copy_bytes(how_.header.destination.bytes(), bytes));
  wire::write_u16(bytes.subspan<2 * mac_address::size, 2>(), how_.header.ethertype.value_or(0));
  auto size = wire::ipc_header_size;
  if (with_body) {
    std::array<std::byte, ipc_acknowledgement::max_selective / 8> bits{};
    const bool selective = kind == ipc_kind::acknowledgement;
    const ipc_acknowledgement said{
        .next = selective ? expected_ : 0,
        .window = room(),
        .selective = byte_span(bits).first(selective ? write_selective(bits) : 0)};
    size += said.write(payload.subspan(size));
  }
  wire::seal_ipc_frame(payload.first(size), {.kind = kind,
                                             .acknowledged = true,
                                             .channel = how_.channel,
                                             .sender = id_,
                                             .receiver = end,
                                             .sequence = sequence,
                                             .message = 0});
  return bytes.first(wire::ethernet_header_size + size);
}

std::size_t session::write_selective(std::span<std::byte> bits) const {
  if (early_count_ == 0) return 0;
  std::size_t used = 0;
  for (auto sequence = expected_ + 1; sequence < early_end_; ++sequence) {
    if (!early_[sequence % early_.size()]) continue;
    const auto bit = sequence - expected_ - 1;
    bits[bit / 8] |= static_cast<std::byte>(1U << bit % 8);
    used = bit / 8 + 1;
  }
  return used;
}

}  // namespace strata::ipc
