// The acknowledged mode of an IPC channel, between exactly two endpoints: they find each other;
// from then on each frame arrives once and in order, or its sender gets an error.
//
// Sans-I/O: received frames and the time go in, frames to send come out.
//
//   - An endpoint without a peer sends a hello to all. An endpoint that receives it, and has no
//     peer either, replies with a hello to its sender; a hello addressed to an endpoint makes the
//     pair. A third endpoint is answered `busy`.
//   - The receiver acknowledges all frames before a sequence, single frames behind it, and reports
//     how many bytes it has room for.
//   - A frame is retransmitted when three frames sent after it have arrived, or after the timeout
//     of RFC 6298. There is no congestion control: the receiver's room limits the bytes under way.
//   - An endpoint that receives nothing sends probes, and gives the peer up after a while. It then
//     takes a new endpoint id, so that late frames of the old pair are ignored by the new one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ipc/outbox.hpp"
#include "ipc/round_trip.hpp"
#include "strata/base/result.hpp"

namespace strata::ipc {

class session {
 public:
  struct options {
    std::string name;  ///< "IPC channel 'x' on lo", for errors
    std::uint64_t channel = 0;
    wire::frame_header header;
    std::uint64_t seed = 0;  ///< of the endpoint ids
    std::size_t window = 0;  ///< bytes of frames kept for the receiver
    std::chrono::milliseconds peer_timeout{0};
  };
  struct tally {
    std::uint64_t retransmitted = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t refused = 0;  ///< from third parties, or invalid
  };
  /// A frame that arrived in order.
  struct arrived_frame {
    wire::ipc_header header;
    std::vector<std::byte> body;
  };

  /// `out` must outlive the session, which removes frames from it as they arrive at the peer.
  session(options options, outbox& out, ipc_time now);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] bool has_peer() const { return state_ == state::paired; }
  [[nodiscard]] const tally& counted() const { return counted_; }
  /// While there is no peer: reports whether the channel already has its two ends.
  [[nodiscard]] bool is_refused() const { return refused_; }

  /// Takes a frame of this channel and mode, from another endpoint.
  void receive(const wire::ipc_frame& frame, ipc_time now);
  /// Handles due timers. Call it before `plan`.
  void pass(ipc_time now);
  /// Writes the frames to be sent now, and returns how many; valid until the next call of any
  /// function. Only frames that `sent` confirms count as sent.
  [[nodiscard]] std::size_t plan(std::span<byte_span> frames);
  void sent(std::size_t count, ipc_time now);
  /// Returns when `pass` must be called again if no frame arrives before.
  [[nodiscard]] std::optional<ipc_time> deadline() const;
  /// Reports whether a frame of `size` bytes could be sent at once if it were closed now.
  [[nodiscard]] bool is_idle_for(std::size_t size) const;
  /// Returns the farewell to the peer; send it and discard the session. Empty without a peer.
  [[nodiscard]] byte_span farewell();

  /// Returns the next frame in order, or nullptr if there is none.
  [[nodiscard]] const arrived_frame* front() const { return inbox_.empty() ? nullptr : &inbox_[0]; }
  void pop_front();

  /// Returns the end of the pair, once: the reason, and how many messages may not have arrived. The
  /// endpoint then looks for a new peer.
  [[nodiscard]] std::optional<error> take_failure(ipc_time now);
  [[nodiscard]] bool has_failed() const { return failure_.has_value(); }

 private:
  enum class state : std::uint8_t { searching, paired, lost };
  enum control : std::uint8_t { offer, confirmation, refusal, acknowledge, probing, control_count };
  struct planned {
    bool is_control = false;
    std::uint64_t number = 0;  // the control message, or the frame's sequence
  };
  static constexpr std::size_t control_size = wire::ethernet_header_size + wire::ipc_header_size +
                                              wire::ipc_acknowledgement::head_size +
                                              wire::ipc_acknowledgement::max_selective / 8;

  void on_hello(const wire::ipc_frame& frame, ipc_time now);
  void on_busy(const wire::ipc_header& header, ipc_time now);
  void on_data(const wire::ipc_frame& frame);
  void on_acknowledgement(const wire::ipc_frame& frame, ipc_time now);
  void on_bye(const wire::ipc_header& header);
  void note_arrival(const outgoing_frame& frame, ipc_time now);
  void find_gaps();

  void search(ipc_time now);
  void hurry(ipc_time now);
  /// Returns a random time of half to one and a half of `nanoseconds`.
  [[nodiscard]] std::chrono::nanoseconds jitter(std::chrono::nanoseconds nanoseconds);
  void pair_with(std::uint64_t peer, std::uint32_t window, ipc_time now);
  void lose_peer(errc code, std::string reason);
  void check_timers(ipc_time now);
  void check_peer(ipc_time now);
  [[nodiscard]] std::chrono::nanoseconds probe_interval() const;
  [[nodiscard]] bool is_stalled() const;
  [[nodiscard]] bool window_allows(std::size_t size) const;
  void owe(control control, std::uint64_t end);
  [[nodiscard]] byte_span build(control control);
  [[nodiscard]] byte_span build_frame(std::size_t slot, wire::ipc_kind kind, std::uint64_t end,
                                      std::uint64_t sequence, bool with_body);
  [[nodiscard]] std::size_t write_selective(std::span<std::byte> bits) const;
  [[nodiscard]] std::uint32_t room() const;

  options how_;
  outbox& out_;
  std::mt19937_64 random_;
  std::uint64_t id_ = 0;
  std::uint64_t peer_ = 0;
  state state_ = state::searching;
  std::optional<error> failure_;
  tally counted_;

  // Sending.
  round_trip timing_;
  std::uint64_t next_ = 0;  // the first frame that was never sent
  std::uint64_t order_ = 0;
  std::uint64_t highest_arrived_ = 0;  // order
  std::size_t under_way_ = 0;          // bytes from the first unacknowledged frame on
  std::size_t lost_ = 0;               // frames to be sent again
  std::uint32_t peer_window_ = 0;
  std::uint64_t last_acknowledgement_ = 0;
  std::optional<ipc_time> resend_at_;

  // Receiving.
  std::uint64_t expected_ = 0;
  std::vector<std::optional<arrived_frame>> early_;  // by sequence
  std::size_t early_count_ = 0;
  std::uint64_t early_end_ = 0;
  std::size_t early_bytes_ = 0;
  std::deque<arrived_frame> inbox_;
  std::size_t inbox_bytes_ = 0;
  std::uint32_t advertised_room_ = 0;
  std::uint64_t acknowledgements_ = 0;

  // The peer.
  ipc_time received_at_;
  ipc_time probed_at_;
  int probes_ = 0;
  ipc_time searching_since_;
  std::optional<ipc_time> hello_at_;
  std::chrono::milliseconds hello_interval_{0};
  bool refused_ = false;
  bool is_proven_ = false;  // the peer has accepted this endpoint as its peer

  std::array<bool, control_count> owed_{};
  std::array<std::uint64_t, control_count> owed_to_{};
  std::array<std::array<std::byte, control_size>, control_count + 1> controls_{};
  std::vector<planned> planned_;
};

}  // namespace strata::ipc
