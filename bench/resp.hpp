// The Redis protocol (RESP2), as much as a publisher and its subscribers meet: simple strings,
// errors, integers, bulk strings and flat arrays of these. https://redis.io/docs/reference/protocol
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace strata::bench {

struct resp_reply {
  char type = 0;                          // '+' '-' ':' '$' '*'
  std::string_view text;                  // of '+' '-' '$'
  std::int64_t integer = 0;               // of ':'
  std::array<std::string_view, 4> items;  // of '*', integers as their digits
  std::size_t item_count = 0;
  std::size_t length = 0;  // bytes that the reply took
};

// The reply that bytes begins with, viewing into it; nullopt when more bytes are needed. Fails the
// program on bytes that are not RESP.
std::optional<resp_reply> read_reply(std::string_view bytes);

void append_command(std::string& out, std::initializer_list<std::string_view> words);

}  // namespace strata::bench
