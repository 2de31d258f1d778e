// For tests: valid and invalid frames, byte by byte, and a reader's results however they are split.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "proto/websocket/websocket.hpp"

namespace strata::proto::testing {

using kind = websocket_event::kind;
inline constexpr auto both_sides = {websocket_role::server, websocket_role::client};

struct seen {
  kind what = kind::text;
  std::string payload;
  int close_code = 1005;

  friend bool operator==(const seen&, const seen&) = default;
  friend std::ostream& operator<<(std::ostream& out, const seen& event) {
    return out << '{' << static_cast<int>(event.what) << " \"" << event.payload.substr(0, 80)
               << "\" " << event.close_code << '}';
  }
};

struct outcome {
  std::vector<seen> events;
  int refusal = 0;  // the close code to send; 0 if there is no error

  friend bool operator==(const outcome&, const outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const outcome& outcome) {
    return out << outcome.refusal << ' ' << ::testing::PrintToString(outcome.events);
  }
};

/// Returns a frame as `sender` sends it: a client's is masked. `first` is the first byte.
inline std::string frame(websocket_role sender, unsigned first, std::string_view payload) {
  constexpr std::string_view key = "\x37\xFA\x21\x3D";
  std::string made(1, static_cast<char>(first));
  const unsigned mask_bit = sender == websocket_role::client ? 0x80 : 0;
  const auto size = payload.size();
  const unsigned bytes = size < 126 ? 0 : size < 65536 ? 2 : 8;
  made += static_cast<char>(mask_bit | (bytes == 0 ? size : bytes == 2 ? 126 : 127));
  for (unsigned i = bytes; i > 0; --i) made += static_cast<char>(size >> (8 * (i - 1)) & 0xFFU);
  if (mask_bit == 0) return made.append(payload);
  made += key;
  for (std::size_t i = 0; i < size; ++i) made += static_cast<char>(payload[i] ^ key[i % 4]);
  return made;
}

/// As `frame`, sent by the peer of a reader on `side`.
inline std::string to(websocket_role side, unsigned first, std::string_view payload = {}) {
  return frame(peer_of(side), first, payload);
}

struct conditions {
  std::size_t max_message = 1U << 20U;
  std::optional<websocket_deflate> agreed = {};
};

/// Feeds the pieces in turn.
inline outcome read_pieces(websocket_role side, const std::vector<std::string_view>& pieces,
                           const conditions& conditions = {}, bool in_place = false) {
  websocket_reader reader(side, conditions.max_message, conditions.agreed);
  outcome got;
  const auto sink = [&](const websocket_event& event) {
    got.events.push_back(
        {event.what, std::string(as_text(event.payload)), static_cast<int>(event.close_code)});
  };
  for (const auto piece : pieces) {
    std::string own(piece);  // ends at the end of its memory, for the address sanitizer
    own.shrink_to_fit();
    const auto read = in_place ? reader.feed_in_place(std::as_writable_bytes(std::span(own)), sink)
                               : reader.feed(as_bytes(own), sink);
    EXPECT_TRUE(in_place || own == piece) << "a const input stays as it is";
    if (read) continue;
    got.refusal = static_cast<int>(reader.refusal_code());
    EXPECT_EQ(reader.held(), 0U);
    EXPECT_FALSE(reader.feed(as_bytes("\x81\x01"), sink)) << "it stays failed";
    break;
  }
  return got;
}

/// Returns the outcome of whole bytes, and checks that it is the same split at every byte, byte by
/// byte, and in place.
inline outcome read_all(websocket_role side, std::string_view bytes,
                        const conditions& conditions = {}) {
  const auto whole = read_pieces(side, {bytes}, conditions);
  EXPECT_EQ(read_pieces(side, {bytes}, conditions, true), whole) << "in place";
  std::vector<std::string_view> singles;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    singles.push_back(bytes.substr(at, 1));
    const std::vector<std::string_view> halves = {bytes.substr(0, at), bytes.substr(at)};
    EXPECT_EQ(read_pieces(side, halves, conditions, at % 2 == 0), whole) << "cut at " << at;
  }
  EXPECT_EQ(read_pieces(side, singles, conditions), whole) << "byte by byte";
  return whole;
}

inline outcome refused(websocket_close code, std::vector<seen> before = {}) {
  return {std::move(before), static_cast<int>(code)};
}

}  // namespace strata::proto::testing
