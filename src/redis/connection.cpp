#include "redis/connection.hpp"

#include <string>
#include <utility>

#include "loop/within.hpp"
#include "proto/resp/resp_request.hpp"

namespace strata::redis {

using kind = proto::resp_value::kind;

connection::connection(loop::loop& loop, const address& server, const proto::value_limits& limits)
    : loop_(loop), server_(server), reader_(limits) {}

loop::task<result<void>> connection::open(net::connecting settings, protocol protocol) {
  const auto latest = loop_.now() + settings.timeout;
  auto beginning = begin(std::move(settings), protocol);
  auto done = co_await loop::within(loop_, std::move(beginning), latest);
  if (done) co_return std::move(*done);
  co_return failure(errc::timed_out, "connect to " + server_.url.text(),
                    "it has not answered in time", "check whether it hangs, or raise the timeout");
}

loop::task<result<void>> connection::begin(net::connecting settings, protocol protocol) {
  auto connected = co_await net::connect(loop_, server_.url, std::move(settings));
  if (!connected) co_return std::unexpected(connected.error());
  if (!connected->bytes) {
    co_return failure(errc::invalid_argument, "connect to " + server_.url.text(),
                      "it has messages, not bytes", "name a cache");
  }
  stream_ = std::move(connected->bytes);
  auto logged_in = co_await log_in(protocol);
  if (!logged_in || server_.database == 0) co_return logged_in;
  co_return co_await select();
}

loop::task<result<void>> connection::log_in(protocol protocol) {
  const bool has_password = !server_.password.empty();
  if (protocol == protocol::resp3) {
    const std::string_view user = server_.user.empty() ? "default" : std::string_view(server_.user);
    auto greeting =
        has_password ? ask({"HELLO", "3", "AUTH", user, server_.password}) : ask({"HELLO", "3"});
    auto reply = co_await greeting;
    if (!reply) co_return std::unexpected(reply.error());
    const bool is_known = reply->what != kind::error || !reply->text.contains("unknown command");
    if (is_known) co_return check(*reply);
  }
  if (!has_password) co_return result<void>{};
  auto authenticating = server_.user.empty() ? ask({"AUTH", server_.password})
                                             : ask({"AUTH", server_.user, server_.password});
  auto reply = co_await authenticating;
  if (!reply) co_return std::unexpected(reply.error());
  co_return check(*reply);
}

loop::task<result<void>> connection::select() {
  const auto database = std::to_string(server_.database);
  auto selecting = ask({"SELECT", database});
  auto reply = co_await selecting;
  if (!reply) co_return std::unexpected(reply.error());
  co_return check(*reply);
}

result<void> connection::check(const proto::resp_value& reply) const {
  if (reply.what != kind::error) return {};
  return failure(errc::permission_denied, "log in to " + server_.url.text(), reply.text,
                 "check the user, the password and the database");
}

loop::task<result<proto::resp_value>> connection::ask(const std::vector<std::string_view>& words) {
  std::string request;
  proto::append_command(request, words);
  push(request);
  return receive();
}

loop::task<result<proto::resp_value>> connection::receive() {
  const auto operation = "receive from " + server_.url.text();
  for (;;) {
    auto next = reader_.next();
    if (!next) {
      auto broken = next.error();
      broken.operation = operation;
      co_return std::unexpected(std::move(broken));
    }
    if (*next) co_return std::move(**next);
    auto arrived = co_await stream_->receive();
    if (!arrived) co_return std::unexpected(arrived.error());
    if (arrived->empty()) {
      co_return failure(errc::connection_closed, operation, "it has closed the connection",
                        "ask again");
    }
    reader_.feed(arrived->bytes());
  }
}

}  // namespace strata::redis
