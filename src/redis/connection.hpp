// A client's connection to a Redis server, or to a cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "net/connector.hpp"
#include "proto/resp/resp_value.hpp"
#include "redis/address.hpp"

namespace strata::redis {

enum class protocol : std::uint8_t {
  resp2,
  resp3,  ///< with a server that does not know it (before Redis 6), RESP2
};

/// All functions belong to the loop.
class connection {
 public:
  /// `server` outlives this object. `limits` apply to each value that is received.
  connection(loop::loop& loop, const address& server, const proto::value_limits& limits);

  /// Connects, logs in and selects the database, all within the settings' timeout. Call it once.
  /// Errors: those of the connection; timed_out; permission_denied if the server refuses the user
  /// or the database. They name the server, without its password.
  [[nodiscard]] loop::task<result<void>> open(net::connecting settings, protocol protocol);

  /// Sends complete requests.
  void push(std::string_view requests) { stream_->push_copy(as_bytes(requests)); }
  /// Bytes that are not sent yet.
  [[nodiscard]] std::size_t unsent() const { return stream_->unsent(); }
  /// Waits for the next value, pushes included. Errors: connection_closed, and data that is not
  /// RESP.
  [[nodiscard]] loop::task<result<proto::resp_value>> receive();
  /// Sends a command, and waits for the next value. Its words are copied.
  [[nodiscard]] loop::task<result<proto::resp_value>> ask(
      const std::vector<std::string_view>& words);

  /// Gives the stream away, for what follows and is not a value. The last value must have been
  /// received, and nothing after it.
  [[nodiscard]] std::unique_ptr<net::stream> release() { return std::move(stream_); }

 private:
  [[nodiscard]] loop::task<result<void>> begin(net::connecting settings, protocol protocol);
  [[nodiscard]] loop::task<result<void>> log_in(protocol protocol);
  [[nodiscard]] loop::task<result<void>> select();
  [[nodiscard]] result<void> check(const proto::resp_value& reply) const;

  loop::loop& loop_;
  const address& server_;
  std::unique_ptr<net::stream> stream_;
  proto::value_reader reader_;
};

}  // namespace strata::redis
