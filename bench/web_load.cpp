// Load for WebSocket servers: connections that keep a number of messages under way, a broadcast to
// many, or connections that just stay. One line of JSON says what came back.
//
//   bench_web_load echo PORT CONNECTIONS SIZE IN_FLIGHT SECONDS
//   bench_web_load broadcast PORT RECEIVERS SIZE IN_FLIGHT SECONDS
//   bench_web_load hold PORT CONNECTIONS            until standard input ends
//
// It counts what it receives. A server sends a message as one frame, not compressed; a broadcast
// is not heard by its sender, or is, which is not counted.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "socket.hpp"

namespace strata::bench {
namespace {

using clock = std::chrono::steady_clock;

struct arguments {
  std::string_view what;
  std::uint16_t port = 0;
  std::size_t connections = 1;
  std::size_t size = 0;
  std::size_t in_flight = 1;
  double seconds = 1;
};

std::string head_of(std::size_t size, bool is_masked) {
  std::string head("\x82");
  const char mask_bit = is_masked ? '\x80' : '\0';
  if (size < 126) {
    head += static_cast<char>(mask_bit | static_cast<char>(size));
  } else {
    const std::size_t bytes = size < 65536 ? 2 : 8;
    head += static_cast<char>(mask_bit | (bytes == 2 ? 126 : 127));
    for (std::size_t i = bytes; i-- != 0;) head += static_cast<char>(size >> (8 * i) & 0xFFU);
  }
  return head;
}

std::string masked_frame(std::size_t size) {
  constexpr std::string_view mask = "\x12\x34\x56\x78";
  auto frame = head_of(size, true) + std::string(mask);
  for (std::size_t i = 0; i < size; ++i) {
    frame += static_cast<char>(('a' + static_cast<char>(i % 26)) ^ mask[i % 4]);
  }
  return frame;
}

class websocket {
 public:
  explicit websocket(std::uint16_t port) : socket_(connect_loopback(port)) {
    send_whole(socket_,
               "GET /bench HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
               "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
               "Sec-WebSocket-Version: 13\r\n\r\n");
  }
  [[nodiscard]] int fd() const { return socket_.get(); }

  // Waits for the answer, of which nothing else comes behind.
  void finish_opening() {
    std::string answer;
    char buffer[1024];
    poller waiting;
    waiting.add(fd(), EPOLLIN, 0);
    while (!answer.ends_with("\r\n\r\n")) {
      if (waiting.wait(5000).empty()) fail("the server does not answer the opening");
      const auto got = ::recv(fd(), buffer, sizeof buffer, 0);
      if (got <= 0) fail("the server has closed the connection: " + answer);
      answer.append(buffer, static_cast<std::size_t>(got));
    }
    if (!answer.starts_with("HTTP/1.1 101 ")) fail("no WebSocket: " + answer);
  }

  void queue(std::string_view bytes) {
    waiting_ += bytes;
    send_waiting();
  }
  void send_waiting() {
    while (!waiting_.empty()) {
      const auto sent = ::send(fd(), waiting_.data(), waiting_.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0) fail("a connection broke while sending");
      waiting_.erase(0, static_cast<std::size_t>(sent));
    }
  }
  // Whole messages of `frame_size` bytes that have come since the last call.
  std::size_t receive(std::span<char> buffer, std::size_t frame_size) {
    for (;;) {
      const auto got = ::recv(fd(), buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) fail("the server has closed a connection");
      received_ += static_cast<std::size_t>(got);
      if (static_cast<std::size_t>(got) < buffer.size()) break;
    }
    const auto whole = received_ / frame_size;
    received_ %= frame_size;
    return whole;
  }

 private:
  owned_fd socket_;
  std::string waiting_;
  std::size_t received_ = 0;
};

std::vector<websocket> open_all(const arguments& wanted, std::size_t count) {
  std::vector<websocket> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    all.emplace_back(wanted.port);
    all.back().finish_opening();
  }
  return all;
}

void report(std::size_t messages, clock::time_point began) {
  const std::chrono::duration<double> took = clock::now() - began;
  fmt::print("{{\"messages\": {}, \"seconds\": {:.3f}}}\n", messages, took.count());
}

// Each connection sends as many again as came back: what is under way stays the same.
void run_echo(const arguments& wanted) {
  auto all = open_all(wanted, wanted.connections);
  const auto frame = masked_frame(wanted.size);
  const auto frame_size = head_of(wanted.size, false).size() + wanted.size;
  poller events;
  for (std::size_t i = 0; i < all.size(); ++i) events.add(all[i].fd(), EPOLLIN, i);
  std::string burst;
  for (std::size_t i = 0; i < wanted.in_flight; ++i) burst += frame;
  const auto began = clock::now();
  const auto end = began + std::chrono::duration_cast<clock::duration>(
                               std::chrono::duration<double>(wanted.seconds));
  for (auto& each : all) each.queue(burst);
  std::vector<char> buffer(256U << 10U);
  std::size_t messages = 0;
  while (clock::now() < end) {
    for (const auto& event : events.wait(100)) {
      auto& from = all[event.data.u64];
      const auto came = from.receive(buffer, frame_size);
      messages += came;
      if (came != 0) from.queue(std::string_view(burst).substr(0, came * frame.size()));
      from.send_waiting();
    }
  }
  report(messages, began);
}

void run_broadcast(const arguments& wanted) {
  auto all = open_all(wanted, wanted.connections);
  auto speakers = open_all(wanted, 1);
  auto& speaker = speakers.front();
  const auto frame = masked_frame(wanted.size);
  const auto frame_size = head_of(wanted.size, false).size() + wanted.size;
  poller events;
  for (std::size_t i = 0; i < all.size(); ++i) events.add(all[i].fd(), EPOLLIN, i);
  const auto began = clock::now();
  const auto end = began + std::chrono::duration_cast<clock::duration>(
                               std::chrono::duration<double>(wanted.seconds));
  std::vector<char> buffer(256U << 10U);
  std::size_t said = 0;
  std::size_t heard = 0;
  while (clock::now() < end) {
    // The next is said when most have heard the first of those under way.
    while (said * all.size() < heard + wanted.in_flight * all.size()) {
      speaker.queue(frame);
      ++said;
    }
    for (const auto& event : events.wait(100)) {
      heard += all[event.data.u64].receive(buffer, frame_size);
    }
    (void)::recv(speaker.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    speaker.send_waiting();
  }
  report(heard, began);
}

void hold(const arguments& wanted) {
  const auto all = open_all(wanted, wanted.connections);
  fmt::print("{{\"open\": {}}}\n", all.size());
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

template <class Number>
Number number(std::string_view text) {
  Number read{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (code != std::errc{} || end != text.data() + text.size()) {
    fail("'" + std::string(text) + "' is no number");
  }
  return read;
}

arguments read_arguments(std::span<char*> words) {
  arguments wanted;
  if (words.size() < 4) fail("give: echo|broadcast|hold PORT CONNECTIONS [SIZE IN_FLIGHT SECONDS]");
  wanted.what = words[1];
  wanted.port = number<std::uint16_t>(words[2]);
  wanted.connections = number<std::size_t>(words[3]);
  if (wanted.what == "hold") return wanted;
  if (words.size() != 7) fail("give SIZE, IN_FLIGHT and SECONDS");
  wanted.size = number<std::size_t>(words[4]);
  wanted.in_flight = number<std::size_t>(words[5]);
  wanted.seconds = number<double>(words[6]);
  return wanted;
}

int run(std::span<char*> words) {
  const auto wanted = read_arguments(words);
  raise_descriptor_limit();
  if (wanted.what == "echo") {
    run_echo(wanted);
  } else if (wanted.what == "broadcast") {
    run_broadcast(wanted);
  } else if (wanted.what == "hold") {
    hold(wanted);
  } else {
    fail("'" + std::string(wanted.what) + "' is not echo, broadcast or hold");
  }
  return 0;
}

}  // namespace
}  // namespace strata::bench

int main(int count, char** words) {
  return strata::bench::run({words, static_cast<std::size_t>(count)});
}
