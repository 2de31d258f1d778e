// The sending connection: writes messages as lines or PUBLISH commands and reads what comes back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "message.hpp"
#include "options.hpp"
#include "socket.hpp"

namespace strata::bench {

inline constexpr std::string_view channel = "bench";

class sender {
 public:
  explicit sender(const options& wanted);

  int fd() const { return socket_.get(); }

  // The sequence of the next message, which is how many were sent.
  std::uint64_t sequence() const { return sequence_; }
  std::uint64_t echoed_bytes() const { return echoed_bytes_; }

  void send_probe();
  // Sends that many messages in one go; what the socket does not take is sent when it can.
  void send_messages(std::uint64_t count);

  // The socket became readable or writable.
  void on_ready();

 private:
  void append(message_kind kind, std::uint64_t sequence, std::uint64_t stamp_ns);
  void flush();
  void read_replies();

  message_format format_;
  protocol speak_;
  owned_fd socket_;
  std::uint64_t sequence_ = 0;
  std::uint64_t echoed_bytes_ = 0;  // lines: a server must not send a line back to its sender
  std::string payload_;
  std::string unsent_;
  std::size_t unsent_from_ = 0;
  std::string replies_;
};

}  // namespace strata::bench
