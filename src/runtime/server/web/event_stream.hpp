// A member that receives the messages as server-sent events, and cannot send.
#pragma once

#include "http/exchange.hpp"
#include "runtime/server/member.hpp"

namespace strata::runtime::server {

class event_stream final : public member {
 public:
  /// Answers the exchange until the client disconnects.
  static loop::task<> serve(shard& shard, http::exchange& exchange);

  event_stream(shard& shard, http::exchange& exchange)
      : member(shard, encoding::event_stream), exchange_(exchange) {}

  [[nodiscard]] loop::socket_address address() const override { return exchange_.peer().address; }
  [[nodiscard]] std::string_view protocol() const override { return "http"; }
  std::size_t offer(const batch& messages) override;
  /// Ends in good order if everything was sent: the client can distinguish that from a truncated
  /// answer.
  void dismiss(parting why) override;
  loop::task<> delivered(loop::time_point limit) override;
  void end() override { exchange_.finish(); }
  /// Shows intermediaries that the connection is still in use.
  void look_after(loop::time_point now) override;

 private:
  http::exchange& exchange_;
  loop::time_point last_sent_;
};

}  // namespace strata::runtime::server
