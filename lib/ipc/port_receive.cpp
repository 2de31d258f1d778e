// How an IPC endpoint receives.
#include <utility>

#include "ipc/port.hpp"

namespace strata::ipc {

namespace {

// A limit, so that a peer that sends endlessly does not keep this endpoint from sending.
constexpr int most_batches = 16;

}  // namespace

std::optional<wire::ipc_frame> port::read(const l2::received_frame& frame) {
  const auto view = wire::ethernet_view::parse(frame.bytes);
  // Skips frames of others, if the kernel has not filtered them.
  if (!view || view->type_field() != config_.ethertype ||
      view->destination() != header_.destination || view->source() == header_.source) {
    return std::nullopt;
  }
  ++counted_.frames_received;
  auto found = wire::ipc_frame::parse(view->payload());
  if (frame.is_truncated() || !found || found->header().channel != channel_ ||
      found->header().acknowledged != session_.has_value()) {
    ++counted_.refused;
    return std::nullopt;
  }
  return found;
}

result<bool> port::fill_slots() {
  next_slot_ = 0;
  filled_ = 0;
  const auto filled = device_->try_receive(slots_);
  if (!filled) return std::unexpected(filled.error());
  filled_ = *filled;
  return filled_ != 0;
}

result<std::optional<message>> port::next(ipc_time now) {
  for (;;) {
    if (auto found = next_beside()) return found;
    if (const auto whole = std::exchange(whole_, std::nullopt)) {
      ++read_;
      const message message{.bytes = *whole, .sender = sender_};
      // Counted at once. A session keeps its frame, which may hold the bytes, until the next call.
      if (!session_) end_frame();
      return message;
    }
    if (reading_) end_frame();
    const auto more = session_ ? advance_session(now) : advance_received(now);
    if (!more) return std::unexpected(more.error());
    if (!*more) return std::nullopt;
  }
}

// Sets `records_` or `whole_` to the frame's messages. Returns false if the frame is invalid.
bool port::begin(const wire::ipc_header& header, byte_span body, ipc_time now) {
  sender_ = header.sender;
  first_message_ = header.message;
  read_ = 0;
  reading_ = true;
  if (header.kind == wire::ipc_kind::packed) {
    records_ = wire::ipc_records(body);
    return true;
  }
  const auto piece = wire::ipc_fragment::parse(header.sequence, body);
  if (!piece) return false;
  if (assembly_.is_too_large(*piece)) {
    if (header.sequence == piece->first) ++counted_.abandoned;
    return true;
  }
  whole_ = assembly_.add(header.sender, header.sequence, *piece, now);
  return true;
}

void port::end_frame() {
  reading_ = false;
  counted_.messages_received += read_;
  if (records_.is_malformed()) ++counted_.refused;
  records_ = {};
  if (session_) return session_->pop_front();
  received_->count_delivered(read_);
  received_->expect_messages(first_message_ + read_);
}

bool port::begin_received(const wire::ipc_frame& frame, ipc_time now) {
  const auto& header = frame.header();
  const bool is_piece = header.kind == wire::ipc_kind::fragment;
  if (!is_piece && header.kind != wire::ipc_kind::packed) return false;
  const auto piece =
      is_piece ? wire::ipc_fragment::parse(header.sequence, frame.body()) : std::nullopt;
  if (is_piece && !piece) return false;
  received_ = senders_.find(header.sender);
  if (received_ == nullptr) {
    // A message whose first fragment was sent before this endpoint was opened does not count as
    // lost.
    const bool is_late = piece && piece->first != header.sequence;
    received_ = senders_.add(header, header.message + (is_late ? 1 : 0));
    assembly_.forget(header.sender);
  }
  if (!received_->accept(header.sequence)) {
    ++counted_.duplicates;
    return true;
  }
  received_->expect_messages(header.message + (is_piece ? 1 : 0));
  return begin(header, frame.body(), now);
}

// Advances to the next received frame, if there is one.
result<bool> port::advance_received(ipc_time now) {
  for (;;) {
    if (next_slot_ == filled_) {
      assembly_.expire(now);
      auto filled = fill_slots();
      if (!filled || !*filled) return filled;
    }
    const auto frame = read(slots_[next_slot_++].frame);
    if (!frame) continue;
    if (!begin_received(*frame, now)) ++counted_.refused;
    if (reading_) return true;
  }
}

result<bool> port::advance_session(ipc_time now) {
  if (session_->front() == nullptr) {
    if (auto turned = turn(now); !turned) return std::unexpected(turned.error());
  }
  const auto* const front = session_->front();
  if (front == nullptr) {
    if (auto failed = session_->take_failure(now)) return std::unexpected(std::move(*failed));
    return false;
  }
  // Drops what the previous peer left incomplete.
  if (front->header.sender != sender_) assembly_.forget(sender_);
  const auto abandoned = counted_.abandoned;
  if (!begin(front->header, front->body, now)) ++counted_.refused;
  if (abandoned != counted_.abandoned) {
    return failure(errc::limit_exceeded, "receive a message on " + name_,
                   "it is larger than " + std::to_string(config_.max_message) + " bytes and lost",
                   "raise max_message to the same value at both ends");
  }
  return true;
}

// Acknowledged: passes received frames to the session.
result<void> port::receive_batches(ipc_time now) {
  for (int batch = 0; batch < most_batches; ++batch) {
    const auto filled = fill_slots();
    if (!filled) return std::unexpected(filled.error());
    if (!*filled) return {};
    for (std::size_t i = 0; i < filled_; ++i) {
      if (const auto frame = read(slots_[i].frame)) session_->receive(*frame, now);
    }
  }
  return {};
}

}  // namespace strata::ipc
