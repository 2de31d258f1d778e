#include "net/message_port.hpp"

#include <cerrno>
#include <utility>

namespace strata::net {

using namespace std::chrono_literals;

namespace {

class stream_port final : public message_port {
 public:
  stream_port(std::unique_ptr<stream> stream, proto::framing framing, std::size_t max_message)
      : stream_(std::move(stream)), framing_(framing), reader_(framing, max_message) {}

  loop::task<error> receive(receiver receiver) override {
    for (;;) {
      {
        // Lent memory is returned before waiting for room.
        auto got = co_await stream_->receive();
        if (!got) co_return got.error();
        if (got->empty()) break;
        receiver.on_bytes(got->bytes().size());
        auto fed = reader_.feed(got->bytes(), receiver.on_message);
        if (!fed) co_return fed.error();
      }
      if (receiver.room) co_await receiver.room();
    }
    if (stream_->broken() != 0) co_return system_error(stream_->broken(), "send");
    // A last line without a LF is a message too.
    if (framing_ == proto::framing::line && !reader_.unfinished().empty()) {
      receiver.on_message(reader_.unfinished());
    } else if (!reader_.unfinished().empty()) {
      co_return failure(errc::malformed, "receive a message",
                        "the stream has ended inside it, " +
                            std::to_string(reader_.unfinished().size()) +
                            " bytes from its beginning")
          .error();
    }
    co_return failure(errc::connection_closed, "receive", "the peer has closed the connection")
        .error();
  }

  std::optional<std::size_t> offer(byte_span message) override {
    if (is_ended_) return std::nullopt;
    const auto envelope = proto::envelope_for(framing_, message.size());
    std::string framed(as_text(envelope.head()));
    framed += as_text(message);
    framed += envelope.after;
    stream_->push_copy(as_bytes(framed));
    return framed.size();
  }
  [[nodiscard]] std::size_t max_size() const override { return SIZE_MAX; }
  [[nodiscard]] std::size_t unsent() const override { return stream_->unsent(); }
  loop::task<> flushed(loop::time_point limit) override { co_await stream_->flushed(limit); }
  void end() override {
    if (!std::exchange(is_ended_, true)) stream_->end();
  }
  [[nodiscard]] port_end ends() const override { return port_end::half; }
  void break_off() override { stream_->break_off(); }

 private:
  std::unique_ptr<stream> stream_;
  proto::framing framing_;
  proto::frame_reader reader_;
  bool is_ended_ = false;
};

class datagram_port final : public message_port {
 public:
  datagram_port(loop::loop& loop, std::unique_ptr<datagram> datagram, bool is_connected)
      : loop_(loop),
        datagrams_(std::move(datagram)),
        losses_(loop, [this](const auto& lost) { on_loss(lost); }),
        has_peer_(is_connected),
        is_open_(!is_connected) {}

  loop::task<error> receive(receiver receiver) override {
    datagrams_->on_notice(receiver.on_notice);
    on_loss_ = receiver.on_loss;
    if (!on_loss_) {
      on_loss_ = [on_trouble = receiver.on_trouble](const losses& lost) {
        for (auto left = lost.unsent; left != 0; --left)
          on_trouble(system_error(EIO, "send"), false);
      };
    }
    for (bool failing = false;;) {
      auto got = co_await datagrams_->receive();
      losses_.look_soon(*datagrams_);
      if (got.result == -ENODEV) {
        co_return system_error(ENODEV, "receive", "the interface was removed");
      }
      if (got.result < 0) {
        receiver.on_trouble(system_error(-got.result, "receive"), !std::exchange(failing, true));
        co_await loop_.sleep(10ms);
        continue;
      }
      failing = false;
      if (!is_of_peer(got.from)) continue;
      receiver.on_bytes(got.data.bytes().size());
      if (receiver.receives_empty || !got.data.empty()) receiver.on_message(got.data.bytes());
      got.data = {};
      if (receiver.room) co_await receiver.room();
    }
  }

  std::optional<std::size_t> offer(byte_span message) override {
    if (!has_peer_ || !datagrams_->send(peer_, loop::slice::copy_of(message))) return std::nullopt;
    losses_.look_soon(*datagrams_);
    return message.size();
  }
  [[nodiscard]] bool is_up() const override { return datagrams_->is_up(); }
  std::uint64_t flush() override {
    datagrams_->flush();
    refused_ = 0;
    losses_.look();
    return refused_;
  }
  [[nodiscard]] std::size_t max_size() const override { return datagrams_->max_size(); }
  [[nodiscard]] std::size_t unsent() const override { return 0; }
  loop::task<> flushed(loop::time_point /*limit*/) override { co_return; }

 private:
  void on_loss(const losses& lost) {
    refused_ += lost.unsent;
    if (on_loss_) on_loss_(lost);
  }
  bool is_of_peer(const loop::socket_address& address) {
    if (!is_open_) return true;
    if (!std::exchange(has_peer_, true)) peer_ = address;
    return peer_ == address;
  }

  loop::loop& loop_;
  std::unique_ptr<datagram> datagrams_;
  loss_watch losses_;
  std::function<void(const losses& lost)> on_loss_;
  std::uint64_t refused_ = 0;
  bool has_peer_;
  bool is_open_;               // to any address, until the first message has arrived
  loop::socket_address peer_;  // none: the address that the socket is connected to
};

}  // namespace

std::unique_ptr<message_port> make_message_port(loop::loop& loop, connection&& connection,
                                                proto::framing framing, std::size_t max_message) {
  if (connection.bytes) {
    return std::make_unique<stream_port>(std::move(connection.bytes), framing, max_message);
  }
  return std::make_unique<datagram_port>(loop, std::move(connection.messages), true);
}

std::unique_ptr<message_port> make_first_peer_port(loop::loop& loop,
                                                   std::unique_ptr<datagram> datagram) {
  return std::make_unique<datagram_port>(loop, std::move(datagram), false);
}

}  // namespace strata::net
