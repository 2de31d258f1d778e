// A tap shows what passes through a runtime: messages, the heads of HTTP requests and answers,
// Redis commands, and the bytes that a proxy forwards unchanged.
//
// Nothing is kept. Without a reader, a message costs one call of `is_open`. Any thread may write.
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

/// What the bytes are.
enum class tapped_form : std::uint8_t {
  message,
  request,  ///< the head of an HTTP request, in the format of HTTP/1.1
  answer,   ///< the head of an HTTP answer, in the same format
  command,  ///< a Redis command, as an array of bulk strings; secrets are redacted
  bytes,    ///< a piece of a stream
};
[[nodiscard]] std::string_view name_of(tapped_form form);

/// The ends between which something passes.
struct tapped_ends {
  std::uint64_t client = 0;   ///< id of the client; 0: there is none, or it has no id
  std::string address;        ///< of the client; for a client runtime, of its server
  std::string sender;         ///< `#5` for client 5, else the name of a runtime, or an endpoint
  std::string receiver;       ///< likewise
  std::string_view protocol;  ///< of the client, as the scheme of a URL; a literal
};

struct tapped {
  std::chrono::system_clock::time_point time;  ///< set by the tap
  bool is_outgoing = false;                    ///< sent by the runtime, not received
  tapped_form form = tapped_form::message;
  tapped_ends ends;
  std::string bytes;       ///< at most `tap::most_bytes` of them
  std::uint64_t size = 0;  ///< bytes that passed
};

/// The name of a client in a tap: `#5`.
[[nodiscard]] std::string client_text(std::uint64_t id);

class tap {
 public:
  static constexpr std::size_t most_bytes = 64U << 10U;

  /// Whether there is a reader. Call `write` only if there is. From any thread.
  [[nodiscard]] bool is_open() const { return !readers_.empty(); }
  /// Shows bytes to all readers.
  void write(tapped_form form, bool is_outgoing, tapped_ends ends, byte_span bytes);

  using reader = followers<tapped>::reader;
  using following = followers<tapped>::following;
  [[nodiscard]] following follow(loop::loop& loop, reader reader) {
    return readers_.add(loop, std::move(reader));
  }
  /// Notifies all readers that there will be no more.
  void end() { readers_.end(); }

 private:
  followers<tapped> readers_;
};

/// Selects what a reader receives.
struct tap_filter {
  std::optional<std::uint64_t> client;        ///< only what this client sends or receives
  std::string match;                          ///< only what contains this text; empty: everything
  std::uint64_t max_bytes = tap::most_bytes;  ///< bytes shown of each message

  [[nodiscard]] bool takes(const tapped& tapped) const;
};

[[nodiscard]] const std::vector<options::bound_row<tap_filter>>& tap_filter_table();

/// One line of JSON, with at most `max_bytes` of the bytes.
[[nodiscard]] std::string json_of(const tapped& tapped, std::uint64_t max_bytes);

}  // namespace strata::runtime
