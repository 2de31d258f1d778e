#include "net/introduction.hpp"

#include "proto/proxy_protocol.hpp"

namespace strata::net {

namespace {

bool has_ip(const loop::socket_address& address) {
  return address.family() == AF_INET || address.family() == AF_INET6;
}

proto::proxied_end end_of(const loop::socket_address& address) {
  const auto text = address.ip();
  return {text.substr(0, text.find('%')), address.port()};
}

std::optional<proto::proxied_ends> ends_of(const peer_info* peer) {
  if (peer == nullptr || !has_ip(peer->address) || peer->address.family() != peer->local.family()) {
    return std::nullopt;
  }
  return proto::proxied_ends{end_of(peer->address), end_of(peer->local)};
}

result<void> take_over(stream& stream, const proto::proxy_header& header) {
  if (!header.of) return {};
  auto client = loop::socket_address::from_ip(header.of->client.host, header.of->client.port);
  auto server = loop::socket_address::from_ip(header.of->server.host, header.of->server.port);
  if (!client) return std::unexpected(client.error());
  if (!server) return std::unexpected(server.error());
  stream.speak_for(*client, *server);
  return {};
}

}  // namespace

loop::task<result<void>> await_introduction(stream& stream, loop::time_point limit) {
  std::string seen;
  for (;;) {
    auto got = co_await stream.receive(limit);
    if (!got) {
      co_return failure(errc::timed_out, "read a PROXY header", "it did not arrive in time");
    }
    if (!*got) co_return std::unexpected(got->error());
    auto& piece = **got;
    if (piece.empty()) {
      co_return failure(errc::connection_closed, "read a PROXY header",
                        "the connection ended before it");
    }
    const auto before = seen.size();
    seen += as_text(piece.bytes());
    const auto read = proto::read_proxy_header(seen);
    if (!read) co_return std::unexpected(read.error());
    if (!*read) continue;
    const auto rest = piece.bytes().subspan((*read)->size - before);
    stream.unread(std::move(piece).narrowed(rest));
    co_return take_over(stream, **read);
  }
}

std::string introduction(int version, const peer_info* peer) {
  return proto::write_proxy_header(version, ends_of(peer));
}

}  // namespace strata::net
