// An IPC endpoint over a device, with the time as an argument: `channel` without clock or waiting.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ipc/assembly.hpp"
#include "ipc/outbox.hpp"
#include "ipc/senders.hpp"
#include "ipc/session.hpp"
#include "strata/ipc/channel.hpp"

namespace strata::ipc {

/// Return the group address of a channel, and the source address of an endpoint.
[[nodiscard]] mac_address ipc_group(std::uint64_t channel);
[[nodiscard]] mac_address ipc_source(std::uint64_t endpoint);

class port {
 public:
  /// `endpoint` is random; the endpoint's address is derived from it. `window` is the room offered
  /// in acknowledged mode, in bytes; it is raised to at least four frames.
  [[nodiscard]] static result<std::unique_ptr<port>> create(const channel_config& config,
                                                            std::unique_ptr<l2::device> device,
                                                            std::uint64_t endpoint,
                                                            std::size_t window, ipc_time now);

  /// Accepts the message if the open frame has room for it.
  [[nodiscard]] bool post_beside(byte_span message) {
    if ((session_ && session_->has_failed()) || !out_.append_beside(message)) return false;
    ++counted_.messages_sent;
    return true;
  }
  /// Returns false if there is no room now. `hold`: more messages or a flush will follow.
  [[nodiscard]] result<bool> post(byte_span message, bool hold, ipc_time now);
  [[nodiscard]] result<void> flush(ipc_time now);
  /// Returns the next message of the current frame, if it has another.
  [[nodiscard]] std::optional<message> next_beside() {
    if (!reading_) return std::nullopt;
    const auto found = records_.next();
    if (!found) return std::nullopt;
    ++read_;
    return message{.bytes = *found, .sender = sender_};
  }
  [[nodiscard]] result<std::optional<message>> next(ipc_time now);
  [[nodiscard]] result<void> turn(ipc_time now);
  [[nodiscard]] std::optional<ipc_time> deadline() const;
  [[nodiscard]] bool wants_to_write() const { return blocked_; }
  /// Reports whether nothing waits to be sent or acknowledged.
  [[nodiscard]] bool is_finished() const { return out_.is_empty(); }
  [[nodiscard]] std::size_t unfinished() const {
    return static_cast<std::size_t>(out_.end() - out_.first());
  }
  /// Sends what is left, once, and a farewell.
  void close(ipc_time now);

  [[nodiscard]] l2::device& over() { return *device_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool has_peer() const { return session_ && session_->has_peer(); }
  [[nodiscard]] bool is_refused() const { return session_ && session_->is_refused(); }
  [[nodiscard]] bool is_acknowledged() const { return session_.has_value(); }
  [[nodiscard]] std::uint64_t id() const { return session_ ? session_->id() : endpoint_; }
  [[nodiscard]] channel_statistics statistics() const;

 private:
  static constexpr std::size_t most_at_once = 64;  // frames per call of the device

  port(const channel_config& config, std::unique_ptr<l2::device> device, std::uint64_t endpoint,
       std::size_t window, std::size_t payload_size, ipc_time now);

  [[nodiscard]] std::optional<wire::ipc_frame> read(const l2::received_frame& frame);
  [[nodiscard]] result<bool> fill_slots();
  [[nodiscard]] bool begin(const wire::ipc_header& header, byte_span body, ipc_time now);
  [[nodiscard]] bool begin_received(const wire::ipc_frame& frame, ipc_time now);
  void end_frame();
  [[nodiscard]] result<bool> advance_received(ipc_time now);
  [[nodiscard]] result<bool> advance_session(ipc_time now);
  [[nodiscard]] result<void> receive_batches(ipc_time now);
  [[nodiscard]] result<void> transmit(ipc_time now);
  [[nodiscard]] result<void> transmit_accepted(ipc_time now);
  [[nodiscard]] result<void> transmit_plain(ipc_time now);
  [[nodiscard]] result<void> transmit_planned(ipc_time now);
  void append_first(byte_span message, ipc_time now);
  void count_sent(std::size_t count, ipc_time now);

  channel_config config_;
  std::unique_ptr<l2::device> device_;
  std::string name_;
  std::uint64_t endpoint_;
  std::uint64_t channel_;
  wire::frame_header header_;
  outbox out_;
  std::optional<session> session_;
  assembly assembly_;
  senders senders_;
  channel_statistics counted_;

  // Sending.
  std::size_t most_held_;  // full frames that wait for each other
  bool flushing_ = false;
  bool blocked_ = false;
  ipc_time departed_at_;  // time of the latest frame
  ipc_time opened_at_;    // time of the oldest message in the open frame
  std::size_t held_ = 0;
  ipc_time held_at_;  // time of the oldest message in them

  // Receiving: slots that the device filled, and the current frame.
  std::vector<std::byte> memory_;
  std::vector<l2::frame_slot> slots_;
  std::size_t filled_ = 0;
  std::size_t next_slot_ = 0;
  bool reading_ = false;
  std::uint64_t sender_ = 0;
  sender* received_ = nullptr;  // unacknowledged: the state of `sender_`
  std::uint64_t first_message_ = 0;
  std::uint64_t read_ = 0;  // messages of the frame
  wire::ipc_records records_;
  std::optional<byte_span> whole_;  // a reassembled message
};

}  // namespace strata::ipc
