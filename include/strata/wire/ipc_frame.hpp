// The contents of an Ethernet frame of `ipc::channel`: a header, followed by small messages packed
// together, a fragment of a large one, or a control message between the two ends.
//
//      0  version, kind, flags (bit 0: acknowledged mode), 0        one byte each
//      4  size of the body             u32     needed since frames are padded
//      8  channel                      u64     the hash of its name
//     16  sender                       u64     random, new with each start
//     24  receiver                     u64     0: all endpoints of the channel
//     32  sequence                     u64     of the frame, by sender
//     40  message                      u64     how many messages the sender began before this frame
//     48  checksum                     u64     of all above and of the body
//     56  body
//
// All numbers are in network order. Sans-I/O and total: no input causes reads out of bounds,
// exceptions or allocations. The checksum misses a damaged frame once in 2^64; it does not protect
// from attackers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "strata/base/bytes.hpp"
#include "strata/wire/big_endian.hpp"

namespace strata::wire {

inline constexpr std::size_t ipc_header_size = 56;
inline constexpr std::uint8_t ipc_version = 1;

enum class ipc_kind : std::uint8_t {
  packed = 1,       ///< whole messages: `ipc_records`
  fragment,         ///< a fragment of a message: `ipc_fragment`
  acknowledgement,  ///< received frames and free room: `ipc_acknowledgement`
  hello,            ///< looks for a peer, or offers to be one; body as of an acknowledgement
  probe,            ///< requests an acknowledgement
  busy,             ///< rejects a hello: the channel already has its two ends
  bye,              ///< the sender leaves; the sequence is the number of frames it ever sent
};

struct ipc_header {
  ipc_kind kind = ipc_kind::packed;
  bool acknowledged = false;  ///< the sender's mode
  std::uint64_t channel = 0;
  std::uint64_t sender = 0;
  std::uint64_t receiver = 0;
  std::uint64_t sequence = 0;
  std::uint64_t message = 0;

  bool operator==(const ipc_header&) const = default;
};

/// A view of a frame in place; valid as long as its bytes.
class ipc_frame {
 public:
  /// `payload` begins behind the Ethernet header. Returns nullopt if it is truncated, of another
  /// version or unknown kind, or does not match its checksum.
  [[nodiscard]] static std::optional<ipc_frame> parse(byte_span payload);

  [[nodiscard]] const ipc_header& header() const { return header_; }
  [[nodiscard]] byte_span body() const { return body_; }

 private:
  ipc_frame(const ipc_header& header, byte_span body) : header_(header), body_(body) {}

  ipc_header header_;
  byte_span body_;
};

/// Writes the header in front of the body, which is already in `payload` from `ipc_header_size` to
/// the end. `payload` has at least `ipc_header_size` bytes and at most 4 GiB.
void seal_ipc_frame(mutable_byte_span payload, const ipc_header& header);

/// Returns the hash of a channel's name, for the header. Among 1000 names on one interface, the
/// likelihood of a collision is 3 in 10^14.
[[nodiscard]] std::uint64_t ipc_channel_id(std::string_view name);

/// The messages of a packed body in order: each is a length (u16) and its bytes.
class ipc_records {
 public:
  static constexpr std::size_t head_size = 2;

  ipc_records() = default;
  explicit ipc_records(byte_span body) : rest_(body) {}

  /// Returns nullopt at the end, or where the body does not follow its format.
  [[nodiscard]] std::optional<byte_span> next() {
    if (rest_.size() < head_size) return std::nullopt;
    const std::size_t size = read_u16(rest_.first<head_size>());
    if (size > rest_.size() - head_size) return std::nullopt;
    const auto message = rest_.subspan(head_size, size);
    rest_ = rest_.subspan(head_size + size);
    return message;
  }
  /// After `next` returned nullopt: reports whether bytes are left over.
  [[nodiscard]] bool is_malformed() const { return !rest_.empty(); }

  /// Writes one message to the front of `memory`, which has room for it and `head_size`; the
  /// message has at most 65,535 bytes. Returns the bytes written.
  static std::size_t write(mutable_byte_span memory, byte_span message) {
    write_u16(memory.first<head_size>(), static_cast<std::uint16_t>(message.size()));
    if (!message.empty()) std::memcpy(memory.data() + head_size, message.data(), message.size());
    return head_size + message.size();
  }

 private:
  byte_span rest_;
};

/// A fragment of a message: number `sequence - first` of `count`. All but the last have the same
/// size, so a fragment's place follows from its number.
struct ipc_fragment {
  static constexpr std::size_t head_size = 16;

  std::uint64_t first = 0;  ///< sequence of the frame with the first fragment
  std::uint32_t total = 0;  ///< size of the message, in bytes
  std::uint32_t count = 0;  ///< number of fragments, at least 1 and at most `total`
  byte_span piece;

  /// Returns nullopt if the header is truncated, or `sequence` or the fragment's size does not fit
  /// this message.
  [[nodiscard]] static std::optional<ipc_fragment> parse(std::uint64_t sequence, byte_span body);
  /// Writes header and fragment to the front of `memory`, which has room for both; returns the
  /// size.
  std::size_t write(mutable_byte_span memory) const;

  [[nodiscard]] std::size_t piece_size() const { return (std::size_t{total} + count - 1) / count; }
  [[nodiscard]] std::size_t offset_of(std::uint64_t sequence) const;
};

/// What has arrived at the other end, and what may follow.
struct ipc_acknowledgement {
  static constexpr std::size_t head_size = 12;
  static constexpr std::size_t max_selective = 1024;  ///< frames

  std::uint64_t next = 0;    ///< all frames before this sequence have arrived
  std::uint32_t window = 0;  ///< bytes of room, counted from `next` on
  byte_span selective;       ///< bit i, low bits first: frame `next` + 1 + i has arrived too

  /// Returns nullopt if the header is truncated or there are more bits than `max_selective`.
  [[nodiscard]] static std::optional<ipc_acknowledgement> parse(byte_span body);
  /// Writes the acknowledgement to the front of `memory`, which has room for it; returns the size.
  std::size_t write(mutable_byte_span memory) const;

  [[nodiscard]] std::size_t selective_count() const { return selective.size() * 8; }
  [[nodiscard]] bool has_arrived(std::size_t i) const {
    return (std::to_integer<unsigned>(selective[i / 8]) >> i % 8 & 1U) != 0;
  }
};

}  // namespace strata::wire
