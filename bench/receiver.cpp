#include "receiver.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "clock.hpp"
#include "failure.hpp"
#include "resp.hpp"

namespace strata::bench {

receiver::receiver(owned_fd socket, protocol speak) : socket_(std::move(socket)), speak_(speak) {}

void receiver::receive(std::span<char> scratch, const message_format& format, histogram& delays) {
  // A tail longer than any message is not one: what the server sends has lost its shape.
  if (tail_.size() > scratch.size() / 2) {
    ++counts_.corrupted;
    tail_.clear();
  }
  std::ranges::copy(tail_, scratch.begin());
  const auto room = scratch.subspan(tail_.size());
  const ssize_t count = recv(socket_.get(), room.data(), room.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    if (!tail_.empty()) ++counts_.corrupted;
    socket_.close();
    return;
  }
  received_ns_ = now_ns();
  const std::string_view bytes(scratch.data(), tail_.size() + static_cast<std::size_t>(count));
  const std::size_t taken = speak_ == protocol::lines ? take_lines(bytes, format, delays)
                                                      : take_replies(bytes, format, delays);
  tail_ = bytes.substr(taken);
}

std::size_t receiver::take_lines(std::string_view bytes, const message_format& format,
                                 histogram& delays) {
  std::size_t taken = 0;
  for (;;) {
    const std::size_t end = bytes.find('\n', taken);
    if (end == std::string_view::npos) return taken;
    take(bytes.substr(taken, end + 1 - taken), format, delays);
    taken = end + 1;
  }
}

std::size_t receiver::take_replies(std::string_view bytes, const message_format& format,
                                   histogram& delays) {
  std::size_t taken = 0;
  while (const auto reply = read_reply(bytes.substr(taken))) {
    taken += reply->length;
    if (reply->type == '-') fail(fmt::format("redis: {}", reply->text));
    // The other array is the answer to SUBSCRIBE.
    if (reply->item_count == 3 && reply->items[0] == "message") {
      take(reply->items[2], format, delays);
    }
  }
  return taken;
}

void receiver::take(std::string_view payload, const message_format& format, histogram& delays) {
  const auto found = format.read(payload);
  if (!found) {
    ++counts_.corrupted;
    return;
  }
  if (found->kind == message_kind::probe) {
    probed_ = true;
    return;
  }
  if (found->sequence < position_) {
    ++counts_.duplicated;
    return;
  }
  position_ = found->sequence + 1;
  ++counts_.delivered;
  delays.record(received_ns_ - std::min(received_ns_, found->stamp_ns));
}

}  // namespace strata::bench
