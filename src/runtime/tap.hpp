// What passes through a runtime, shown to those who look on: messages, the heads of HTTP requests
// and answers, commands of Redis, and the bytes that a proxy forwards as they are.
//
// Nothing is kept. While nobody looks on, a message costs the look at `is_open`. Any thread may
// write.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/option_table.hpp"
#include "runtime/followers.hpp"
#include "strata/base/bytes.hpp"

namespace strata::runtime {

/// What its bytes are.
enum class tapped_form : std::uint8_t {
  message,
  request,  ///< the head of an HTTP request, in HTTP/1.1's form
  answer,   ///< the head of an HTTP answer, in HTTP/1.1's form
  command,  ///< a command of Redis, as an array of bulk strings; without its secrets
  bytes,    ///< a piece of a stream, as it came
};
[[nodiscard]] std::string_view name_of(tapped_form form);

/// The two ends of what passes.
struct tapped_ends {
  std::uint64_t client = 0;   ///< the client at one of the ends; 0: none, or it has no id
  std::string address;        ///< the client's or, of a client runtime, that of its server
  std::string sender;         ///< `#5` is the client 5; else a runtime's name, or an endpoint
  std::string receiver;       ///< likewise
  std::string_view protocol;  ///< the client's, as the scheme of a URL; of a literal
};

struct tapped {
  std::chrono::system_clock::time_point time;  ///< set by the tap
  bool is_outgoing = false;                    ///< from the runtime to its client
  tapped_form form = tapped_form::message;
  tapped_ends ends;
  std::string bytes;       ///< at most `tap::most_bytes` of them
  std::uint64_t size = 0;  ///< bytes that passed
};

/// `#5`: how a client is named.
[[nodiscard]] std::string client_text(std::uint64_t id);

class tap {
 public:
  static constexpr std::size_t most_bytes = 64U << 10U;

  /// Somebody looks on: only then is there anything to `write` for. From any thread.
  [[nodiscard]] bool is_open() const { return !readers_.empty(); }
  /// Shows what passes to all who look on.
  void write(tapped_form form, bool is_outgoing, tapped_ends ends, byte_span bytes);

  using reader = followers<tapped>::reader;
  using following = followers<tapped>::following;
  [[nodiscard]] following follow(loop::loop& loop, reader reader) {
    return readers_.add(loop, std::move(reader));
  }
  /// Says to all readers that no more will come.
  void end() { readers_.end(); }

 private:
  followers<tapped> readers_;
};

/// What a reader asks for.
struct tap_filter {
  std::optional<std::uint64_t> client;        ///< only what has this client at one end
  std::string match;                          ///< only what contains it; empty: all
  std::uint64_t max_bytes = tap::most_bytes;  ///< that are shown of each

  [[nodiscard]] bool takes(const tapped& tapped) const;
};

[[nodiscard]] const std::vector<options::bound_row<tap_filter>>& tap_filter_table();

/// As one line of JSON, with at most `max_bytes` of the bytes.
[[nodiscard]] std::string json_of(const tapped& tapped, std::uint64_t max_bytes);

}  // namespace strata::runtime
