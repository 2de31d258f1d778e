// Load for caches: clients that send a command in pipelines, each when the one before it has been
// answered whole. One line of JSON says how long it took.
//
//   bench_cache_load PORT CLIENTS PIPELINE REQUESTS RANGE WORD...
//
// In the command's words `__rand_int__` is another number below RANGE in each request, as twelve
// digits; RANGE 0 leaves it as it is. Requests are prepared before they are sent and replies are
// only counted, so that one core loads a server that answers millions of commands a second.
// redis-benchmark, which parses every reply, answers for fewer.
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clock.hpp"
#include "failure.hpp"
#include "histogram.hpp"
#include "reply_counter.hpp"
#include "socket.hpp"

namespace strata::bench {
namespace {

constexpr std::string_view placeholder = "__rand_int__";
constexpr int patience_ms = 30'000;

struct arguments {
  std::uint16_t port = 0;
  std::uint64_t clients = 1;
  std::uint64_t pipeline = 1;
  std::uint64_t requests = 1;
  std::uint64_t range = 0;
  std::vector<std::string_view> words;
};

// Numbers that differ between runs would compare contenders by other work.
class random_numbers {
 public:
  std::uint64_t below(std::uint64_t limit) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_ % limit;
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

// The text of a client's pipeline, and where its numbers stand.
class request_text {
 public:
  explicit request_text(const arguments& arguments) : range_(arguments.range) {
    std::string command = fmt::format("*{}\r\n", arguments.words.size());
    for (const auto& word : arguments.words) {
      command += fmt::format("${}\r\n{}\r\n", word.size(), word);
    }
    for (std::uint64_t i = 0; i < arguments.pipeline; ++i) bytes_ += command;
    if (range_ == 0) return;
    for (auto at = bytes_.find(placeholder); at != std::string::npos;
         at = bytes_.find(placeholder, at + placeholder.size())) {
      places_.push_back(at);
    }
  }

  std::string_view renew(random_numbers& numbers) {
    for (const auto place : places_) {
      auto number = numbers.below(range_);
      for (auto at = place + placeholder.size(); at != place; number /= 10) {
        bytes_[--at] = static_cast<char>('0' + number % 10);
      }
    }
    return bytes_;
  }

 private:
  std::uint64_t range_;
  std::string bytes_;
  std::vector<std::size_t> places_;
};

class client {
 public:
  explicit client(const arguments& arguments)
      : socket_(connect_loopback(arguments.port)), text_(arguments) {}
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] std::uint64_t began_ns() const { return began_ns_; }

  void begin(std::uint64_t requests, random_numbers& numbers) {
    unsent_ = text_.renew(numbers);
    unanswered_ = requests;
    began_ns_ = now_ns();
    send();
  }
  void send() {
    while (!unsent_.empty()) {
      const auto sent = ::send(fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0) fail_errno("send");
      unsent_.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Reports whether the pipeline has just been answered whole.
  bool receive(std::span<char> buffer) {
    if (unanswered_ == 0) return false;
    for (;;) {
      const auto size = ::recv(fd(), buffer.data(), buffer.size(), 0);
      if (size < 0 && errno == EAGAIN) return false;
      if (size <= 0) fail("the server has closed a connection");
      const auto replies = counter_.count({buffer.data(), static_cast<std::size_t>(size)});
      if (replies > unanswered_) fail("the server sent a reply to no request");
      unanswered_ -= replies;
      if (unanswered_ == 0) return true;
      if (static_cast<std::size_t>(size) < buffer.size()) return false;
    }
  }

 private:
  owned_fd socket_;
  request_text text_;
  reply_counter counter_;
  std::string_view unsent_;
  std::uint64_t unanswered_ = 0;
  std::uint64_t began_ns_ = 0;
};

class load {
 public:
  explicit load(const arguments& arguments)
      : pipeline_(arguments.pipeline),
        batches_((arguments.requests + arguments.pipeline - 1) / arguments.pipeline) {
    clients_.reserve(arguments.clients);
    for (std::uint64_t i = 0; i < arguments.clients; ++i) {
      clients_.emplace_back(arguments);
      poller_.add(clients_.back().fd(), EPOLLIN | EPOLLOUT | EPOLLET, i);
    }
  }

  void run() {
    const auto began_ns = now_ns();
    for (auto& each : clients_) begin_next(each);
    std::vector<char> buffer(256U << 10U);
    while (answered_ < batches_) {
      const auto events = poller_.wait(patience_ms);
      if (events.empty()) fail("the server has not answered for 30 s");
      for (const auto& event : events) {
        auto& client = clients_[event.data.u64];
        client.send();
        if (!client.receive(buffer)) continue;
        ++answered_;
        delays_.record(now_ns() - client.began_ns());
        begin_next(client);
      }
    }
    report(to_seconds(now_ns() - began_ns));
  }

 private:
  void begin_next(client& client) {
    if (begun_ == batches_) return;
    ++begun_;
    client.begin(pipeline_, numbers_);
  }

  void report(double seconds) const {
    const auto requests = answered_ * pipeline_;
    const auto milliseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
    json_object report;
    report.add("requests", requests);
    report.add("seconds", seconds);
    report.add("rate", static_cast<double>(requests) / seconds);
    report.add("p50_ms", milliseconds(delays_.percentile(0.5)));
    report.add("p99_ms", milliseconds(delays_.percentile(0.99)));
    report.print();
  }

  std::uint64_t pipeline_;
  std::uint64_t batches_;
  std::uint64_t begun_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<client> clients_;
  poller poller_;
  random_numbers numbers_;
  histogram delays_;
};

template <class Number>
Number read_number(std::string_view name, std::string_view text, Number least) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc{} || rest != end || number < least) {
    fail(fmt::format("{} '{}': give a number from {}", name, text, least));
  }
  return number;
}

arguments read_arguments(std::span<char*> words) {
  if (words.size() < 7) fail("give: PORT CLIENTS PIPELINE REQUESTS RANGE WORD...");
  arguments arguments;
  arguments.port = read_number<std::uint16_t>("PORT", words[1], 1);
  arguments.clients = read_number<std::uint64_t>("CLIENTS", words[2], 1);
  arguments.pipeline = read_number<std::uint64_t>("PIPELINE", words[3], 1);
  arguments.requests = read_number<std::uint64_t>("REQUESTS", words[4], 1);
  arguments.range = read_number<std::uint64_t>("RANGE", words[5], 0);
  arguments.words.assign(words.begin() + 6, words.end());
  return arguments;
}

}  // namespace
}  // namespace strata::bench

int main(int count, char** words) {
  using namespace strata::bench;
  raise_descriptor_limit();
  load(read_arguments({words, static_cast<std::size_t>(count)})).run();
}
