#include "sender.hpp"

#include <fmt/core.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "clock.hpp"
#include "failure.hpp"
#include "resp.hpp"

namespace strata::bench {

sender::sender(const options& wanted)
    : format_(wanted.size), speak_(wanted.speak), socket_(connect_loopback(wanted.server_port())) {}

void sender::append(message_kind kind, std::uint64_t sequence, std::uint64_t stamp_ns) {
  const message value{kind, sequence, stamp_ns};
  if (speak_ == protocol::lines) {
    format_.append(unsent_, value);
    return;
  }
  payload_.clear();
  format_.append(payload_, value);
  append_command(unsent_, {"PUBLISH", channel, payload_});
}

void sender::send_probe() {
  append(message_kind::probe, 0, now_ns());
  flush();
}

void sender::send_messages(std::uint64_t count) {
  const std::uint64_t stamp = now_ns();
  for (std::uint64_t i = 0; i < count; ++i) append(message_kind::data, sequence_++, stamp);
  flush();
}

void sender::on_ready() {
  read_replies();
  flush();
}

void sender::flush() {
  while (unsent_from_ < unsent_.size()) {
    const auto rest = std::string_view(unsent_).substr(unsent_from_);
    const ssize_t sent = send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return;
      fail_errno("the server closed the sender's connection: send");
    }
    unsent_from_ += static_cast<std::size_t>(sent);
  }
  unsent_.clear();
  unsent_from_ = 0;
}

void sender::read_replies() {
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count == 0) fail("the server closed the sender's connection");
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return;
      fail_errno("the sender's connection: recv");
    }
    if (speak_ == protocol::lines) {
      echoed_bytes_ += static_cast<std::uint64_t>(count);
      continue;
    }
    replies_.append(bytes.data(), static_cast<std::size_t>(count));
    std::size_t taken = 0;
    while (const auto reply = read_reply(std::string_view(replies_).substr(taken))) {
      taken += reply->length;
      if (reply->type != ':') fail(fmt::format("redis: PUBLISH was answered '{}'", reply->text));
    }
    replies_.erase(0, taken);
  }
}

}  // namespace strata::bench
