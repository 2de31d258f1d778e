#include "proto/websocket/websocket.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "proto/message_room.hpp"
#include "text/utf8.hpp"

namespace strata::proto {

namespace {

constexpr std::size_t max_spare_scratch = 64U << 10U;  // more is freed between two reads

/// Memory shared by the readers of a thread, so that an idle reader needs none of it.
struct spares {
  std::string scratch;  // for payloads that are unmasked but not gathered
  std::unique_ptr<inflater> idle_inflater;
};
thread_local spares thread_spares;

/// Returns the limit for the bytes of a message's frames. The text is limited when it is inflated,
/// but blocks without text must not continue forever.
std::uint64_t wire_limit(std::uint64_t max_message, bool is_compressed) {
  if (!is_compressed || max_message > UINT64_MAX / 4) return max_message;
  return 2 * max_message + 1024;
}

}  // namespace

/// The contents of an incomplete message or control frame.
struct websocket_reader::unfinished {
  std::string message;
  text::utf8_checker checker;
  std::uint8_t control_size = 0;
  std::array<std::byte, max_control_payload> control;
};

/// One call of `feed`. It takes the scratch out of the thread's spares, since a sink may feed
/// another reader.
struct websocket_reader::pass {
  byte_span rest;
  bool is_writable;
  event_sink sink;
  std::string scratch = std::exchange(thread_spares.scratch, {});
  std::uint32_t controls = 0;

  pass(const reading& input, event_sink events)
      : rest(input.rest), is_writable(input.is_writable), sink(events) {}
  pass(const pass&) = delete;
  pass& operator=(const pass&) = delete;
  ~pass() {
    if (scratch.capacity() <= max_spare_scratch) thread_spares.scratch.swap(scratch);
  }

  void report(const websocket_event& event) const { sink.call(sink.object, event); }
};

websocket_reader::websocket_reader(websocket_role side, std::size_t max_message,
                                   std::optional<websocket_deflate> agreed)
    : max_message_(max_message), heads_(side), agreed_(agreed) {}
websocket_reader::~websocket_reader() = default;
websocket_reader::websocket_reader(websocket_reader&&) noexcept = default;
websocket_reader& websocket_reader::operator=(websocket_reader&&) noexcept = default;

std::size_t websocket_reader::held() const {
  return unfinished_ ? sizeof(unfinished) + unfinished_->message.capacity() : 0;
}

result<void> websocket_reader::read(reading input, event_sink sink) {
  if (refusal_ != nullptr) return refusal();
  if (is_closed_) return {};
  pass now(input, sink);
  if (read_frames(now)) return {};
  unfinished_.reset();
  inflater_.reset();
  return refusal();
}

bool websocket_reader::read_frames(pass& pass) {
  while (!pass.rest.empty() && !is_closed_) {
    if (!is_in_payload_) {
      const bool is_in_message = message_ != websocket_opcode::continuation;
      websocket_head_reader::head head;
      if (is_in_message || !heads_.read_short(pass.rest, head)) {
        const auto is_whole = heads_.read(
            pass.rest, {.is_in_message = is_in_message, .may_be_compressed = agreed_.has_value()},
            head);
        if (!is_whole) return refuse(websocket_close::protocol_error, is_whole.error());
        if (!*is_whole) return true;
      }
      if (!begin_frame(head, pass)) return false;
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(missing_, pass.rest.size()));
    const auto piece = pass.rest.first(size);
    pass.rest = pass.rest.subspan(size);
    missing_ -= size;
    is_in_payload_ = missing_ > 0;
    const bool is_right =
        is_control(frame_.opcode) ? take_control(piece, pass) : take_data(piece, pass);
    if (!is_right) return false;
  }
  return true;
}

result<void> websocket_reader::refusal() const {
  const bool is_limit = refusal_code_ == websocket_close::message_too_big ||
                        refusal_code_ == websocket_close::policy_violation;
  return failure(is_limit ? errc::limit_exceeded : errc::malformed, "read a WebSocket message",
                 refusal_,
                 refusal_code_ == websocket_close::message_too_big ? "raise --max-message" : "");
}

bool websocket_reader::refuse(websocket_close code, const char* why) {
  refusal_code_ = code;
  refusal_ = why;
  return false;
}

bool websocket_reader::begin_frame(const websocket_head_reader::head& head, pass& pass) {
  frame_ = head.frame;
  missing_ = head.payload_size;
  mask_offset_ = 0;
  if (!is_control(frame_.opcode)) return begin_data(missing_);
  if (++pass.controls > max_controls) {
    return refuse(websocket_close::policy_violation, "there are too many control frames");
  }
  return true;
}

bool websocket_reader::begin_data(std::uint64_t size) {
  if (frame_.opcode != websocket_opcode::continuation) {
    message_ = frame_.opcode;
    is_compressed_ = frame_.is_compressed;
    wire_size_ = empty_fragments_ = 0;
  }
  if (size == 0 && !frame_.is_final && ++empty_fragments_ > max_empty_fragments) {
    return refuse(websocket_close::policy_violation, "a message has too many empty fragments");
  }
  const auto limit = wire_limit(max_message_, is_compressed_);
  if (wire_size_ > limit || size > limit - wire_size_) {
    return refuse(websocket_close::message_too_big, "it is longer than the limit");
  }
  wire_size_ += size;
  return true;
}

/// Returns the payload's bytes, valid until the next call. Call it for each piece of a frame in
/// order.
byte_span websocket_reader::unmask(byte_span piece, pass& pass) {
  if (!frame_.mask || piece.empty()) return piece;
  std::byte* to = nullptr;
  if (pass.is_writable) {
    to = const_cast<std::byte*>(piece.data());  // part of feed_in_place's mutable span
  } else {
    if (pass.scratch.size() < piece.size()) {
      pass.scratch.clear();
      make_room(pass.scratch, piece.size(), piece.size());
      pass.scratch.resize_and_overwrite(piece.size(), [](char*, std::size_t size) { return size; });
    }
    to = reinterpret_cast<std::byte*>(pass.scratch.data());
  }
  apply_mask(piece, to, *frame_.mask, mask_offset_);
  mask_offset_ = static_cast<std::uint8_t>((mask_offset_ + piece.size()) % frame_.mask->size());
  return {to, piece.size()};
}

websocket_reader::unfinished& websocket_reader::begun() {
  if (!unfinished_) unfinished_ = std::make_unique<unfinished>();
  return *unfinished_;
}

bool websocket_reader::take_control(byte_span piece, pass& pass) {
  const auto bytes = unmask(piece, pass);
  if (!is_in_payload_ && (!unfinished_ || unfinished_->control_size == 0)) {
    return end_control(bytes, pass);
  }
  auto& kept = begun();
  copy_bytes(bytes, mutable_byte_span(kept.control).subspan(kept.control_size));
  kept.control_size = static_cast<std::uint8_t>(kept.control_size + bytes.size());
  if (is_in_payload_) return true;
  const auto whole = kept.control;
  const auto size = std::exchange(kept.control_size, std::uint8_t{0});
  if (message_ == websocket_opcode::continuation) unfinished_.reset();
  return end_control(byte_span(whole).first(size), pass);
}

bool websocket_reader::end_control(byte_span payload, pass& pass) {
  if (frame_.opcode == websocket_opcode::close) return end_close(payload, pass);
  const bool is_ping = frame_.opcode == websocket_opcode::ping;
  pass.report({.what = is_ping ? websocket_event::kind::ping : websocket_event::kind::pong,
               .payload = payload});
  return true;
}

// Section 5.5.1: nothing, or a code and a reason.
bool websocket_reader::end_close(byte_span payload, pass& pass) {
  websocket_event event{.what = websocket_event::kind::close, .payload = {}};
  if (payload.size() == 1) {
    return refuse(websocket_close::protocol_error, "a close frame has an incomplete code");
  }
  if (!payload.empty()) {
    const auto code = static_cast<std::uint16_t>(std::to_integer<unsigned>(payload[0]) << 8U |
                                                 std::to_integer<unsigned>(payload[1]));
    if (!is_valid_close_code(code)) {
      return refuse(websocket_close::protocol_error, "a close frame has an invalid code");
    }
    event.close_code = static_cast<websocket_close>(code);
    event.payload = payload.subspan(2);
    text::utf8_checker checker;
    if (!checker.feed(event.payload) || !checker.is_whole()) {
      return refuse(websocket_close::invalid_data, "a close frame's reason is not UTF-8");
    }
  }
  is_closed_ = true;
  unfinished_.reset();
  inflater_.reset();
  pass.report(event);
  return true;
}

bool websocket_reader::take_data(byte_span piece, pass& pass) {
  const bool is_end = !is_in_payload_ && frame_.is_final;
  if (is_end && !is_compressed_ && piece.size() == wire_size_) {  // the whole message is here
    const auto bytes = unmask(piece, pass);
    text::utf8_checker checker;
    if (message_ == websocket_opcode::text && (!checker.feed(bytes) || !checker.is_whole())) {
      return refuse(websocket_close::invalid_data, "a text message is not UTF-8");
    }
    return end_message(bytes, pass);
  }
  const bool is_kept =
      is_compressed_ ? append_inflated(unmask(piece, pass), is_end) : append_plain(piece);
  if (!is_kept) return false;
  if (!is_end) return true;
  if (!unfinished_->checker.is_whole()) {
    return refuse(websocket_close::invalid_data, "a text message ends inside a UTF-8 character");
  }
  if (is_compressed_) release_inflater();
  const auto whole = std::move(unfinished_->message);
  return end_message(as_bytes(whole), pass);
}

/// Unmasks the piece into its place in the message.
bool websocket_reader::append_plain(byte_span piece) {
  auto& kept = begun();
  const auto before = kept.message.size();
  make_room(kept.message, piece.size(), max_message_);
  kept.message.resize_and_overwrite(before + piece.size(), [&](char* text, std::size_t size) {
    auto* to = reinterpret_cast<std::byte*>(text + before);
    if (frame_.mask) {
      apply_mask(piece, to, *frame_.mask, mask_offset_);
    } else {
      copy_bytes(piece, {to, piece.size()});
    }
    return size;
  });
  mask_offset_ = static_cast<std::uint8_t>((mask_offset_ + piece.size()) % 4);
  if (message_ != websocket_opcode::text) return true;
  return kept.checker.feed(as_bytes(kept.message).subspan(before)) ||
         refuse(websocket_close::invalid_data, "a text message is not UTF-8");
}

/// An error in the text is reported before an error behind it, however the bytes are split.
bool websocket_reader::append_inflated(byte_span piece, bool is_end) {
  auto& kept = begun();
  const auto before = kept.message.size();
  auto inflated = peer_inflater().feed(piece, kept.message, max_message_);
  if (inflated && is_end) inflated = peer_inflater().finish(kept.message, max_message_);
  if (message_ == websocket_opcode::text &&
      !kept.checker.feed(as_bytes(kept.message).subspan(before))) {
    return refuse(websocket_close::invalid_data, "a text message is not UTF-8");
  }
  if (inflated) return true;
  return inflated.error().code == errc::limit_exceeded
             ? refuse(websocket_close::message_too_big, "it is longer than the limit")
             : refuse(websocket_close::invalid_data, "a compressed message is not valid DEFLATE");
}

bool websocket_reader::end_message(byte_span payload, pass& pass) {
  unfinished_.reset();
  const bool is_text =
      std::exchange(message_, websocket_opcode::continuation) == websocket_opcode::text;
  pass.report({.what = is_text ? websocket_event::kind::text : websocket_event::kind::binary,
               .payload = payload});
  return true;
}

/// Returns the inflater; the thread's idle one if the peer's messages do not depend on earlier
/// ones.
inflater& websocket_reader::peer_inflater() {
  if (inflater_) return *inflater_;
  const auto peer = peer_of(heads_.side());
  const bool is_lent = agreed_->forgets(peer);
  if (is_lent) inflater_ = std::move(thread_spares.idle_inflater);
  if (!inflater_) {
    const int bits = is_lent ? max_window_bits : agreed_->window_bits_of(peer);
    inflater_ = std::make_unique<inflater>(bits);
  }
  return *inflater_;
}

/// Called at the end of a message.
void websocket_reader::release_inflater() {
  if (!agreed_->forgets(peer_of(heads_.side()))) return;
  inflater_->restart();
  thread_spares.idle_inflater = std::move(inflater_);
}

}  // namespace strata::proto
