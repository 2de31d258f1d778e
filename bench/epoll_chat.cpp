// The baseline: the broadcast server that a good engineer writes by hand in an afternoon. One
// thread, level-triggered epoll, a line from one client goes to all others.
//
//   --write each    one send() a message and receiver, the classic minimal server
//   --write batch   one send() a receiver for all the lines that one recv() brought, the most that
//                   a simple epoll program can do
//
// What a socket does not take at once waits in its connection's buffer; a client that lets more
// than 16 MiB wait, or sends a line of more than 1 MiB, is closed.

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum class write_policy { each, batch };

constexpr std::size_t most_pending = std::size_t{16} << 20;
constexpr std::size_t longest_line = std::size_t{1} << 20;

[[noreturn]] void die(std::string_view reason) {
  fmt::print(stderr, "epoll_chat: {}\n", reason);
  std::exit(1);
}

[[noreturn]] void die_errno(std::string_view operation) {
  die(fmt::format("{}: {}", operation, std::strerror(errno)));
}

struct connection {
  int fd = -1;
  std::size_t index = 0;  // its place in the server's list
  bool closing = false;
  bool awaits_writable = false;
  std::string partial;  // the line whose end has not arrived
  std::string pending;  // what the socket has not taken
};

class server {
 public:
  server(std::uint16_t port, write_policy policy);
  [[noreturn]] void run();

 private:
  void accept_all();
  void read_from(connection& from);
  void broadcast(const connection& from, std::string_view bytes);
  void deliver(connection& to, std::string_view bytes);
  void flush(connection& to);
  void watch(connection& client, bool writable) const;
  void close_marked();
  void mark_closed(connection& client);

  write_policy policy_;
  int listener_;
  int epoll_;
  std::vector<std::unique_ptr<connection>> connections_;
  std::vector<connection*> closing_;
  std::vector<char> received_ = std::vector<char>(65536);
  std::string joined_;
};

server::server(std::uint16_t port, write_policy policy)
    : policy_(policy),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (listener_ < 0) die_errno("socket");
  if (epoll_ < 0) die_errno("epoll_create1");
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    die_errno(fmt::format("bind 127.0.0.1:{}", port));
  }
  if (listen(listener_, 4096) != 0) die_errno("listen");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // the listener is the one without a connection
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0) die_errno("epoll_ctl");
}

void server::run() {
  std::array<epoll_event, 512> events{};
  for (;;) {
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno != EINTR) die_errno("epoll_wait");
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      auto* client = static_cast<connection*>(event.data.ptr);
      if (client == nullptr) {
        accept_all();
        continue;
      }
      if (!client->closing && (event.events & EPOLLOUT) != 0) flush(*client);
      if (!client->closing && (event.events & ~std::uint32_t{EPOLLOUT}) != 0) read_from(*client);
    }
    close_marked();
  }
}

void server::accept_all() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      die_errno("accept4");
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto client = std::make_unique<connection>();
    client->fd = fd;
    client->index = connections_.size();
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = client.get();
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) die_errno("epoll_ctl");
    connections_.push_back(std::move(client));
  }
}

void server::read_from(connection& from) {
  const ssize_t count = recv(from.fd, received_.data(), received_.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    mark_closed(from);
    return;
  }
  std::string_view bytes(received_.data(), static_cast<std::size_t>(count));
  const std::size_t end = bytes.rfind('\n');
  if (end == std::string_view::npos) {
    from.partial += bytes;
    if (from.partial.size() > longest_line) mark_closed(from);
    return;
  }
  std::string_view lines = bytes.substr(0, end + 1);
  if (!from.partial.empty()) {
    joined_ = from.partial;
    joined_ += lines;
    lines = joined_;
  }
  from.partial = bytes.substr(end + 1);
  if (policy_ == write_policy::batch) {
    broadcast(from, lines);
    return;
  }
  while (!lines.empty()) {
    const std::size_t length = lines.find('\n') + 1;
    broadcast(from, lines.substr(0, length));
    lines.remove_prefix(length);
  }
}

void server::broadcast(const connection& from, std::string_view bytes) {
  for (const auto& to : connections_) {
    if (to.get() != &from && !to->closing) deliver(*to, bytes);
  }
}

void server::deliver(connection& to, std::string_view bytes) {
  if (to.pending.empty()) {
    const ssize_t sent = send(to.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      mark_closed(to);
      return;
    }
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (bytes.empty()) return;
    watch(to, true);
  }
  to.pending += bytes;
  if (to.pending.size() > most_pending) mark_closed(to);
}

void server::flush(connection& to) {
  const ssize_t sent = send(to.fd, to.pending.data(), to.pending.size(), MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno != EAGAIN && errno != EINTR) mark_closed(to);
    return;
  }
  to.pending.erase(0, static_cast<std::size_t>(sent));
  if (to.pending.empty()) watch(to, false);
}

void server::watch(connection& client, bool writable) const {
  if (client.awaits_writable == writable) return;
  client.awaits_writable = writable;
  epoll_event event{};
  event.events = writable ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &client;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, client.fd, &event) != 0) die_errno("epoll_ctl");
}

// Closing waits until the events of this round are handled: one of them may be the client's.
void server::mark_closed(connection& client) {
  if (client.closing) return;
  client.closing = true;
  closing_.push_back(&client);
}

void server::close_marked() {
  for (connection* client : closing_) {
    close(client->fd);
    const std::size_t index = client->index;
    std::swap(connections_[index], connections_.back());
    connections_[index]->index = index;
    connections_.pop_back();
  }
  closing_.clear();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 0;
  auto policy = write_policy::each;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string_view value = argv[i + 1];
    if (name == "--port") {
      std::from_chars(value.data(), value.data() + value.size(), port);
    } else if (name == "--write" && (value == "each" || value == "batch")) {
      policy = value == "batch" ? write_policy::batch : write_policy::each;
    } else {
      die(fmt::format("unknown: {} {}", name, value));
    }
  }
  if (port == 0) die("usage: bench_epoll_chat --port PORT --write each|batch");
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  server(port, policy).run();
}
