#include "net/message_port.hpp"

#include <cerrno>

namespace strata::net {

using namespace std::chrono_literals;

namespace {

class stream_port final : public message_port {
 public:
  stream_port(std::unique_ptr<stream> over, proto::framing how, std::size_t max_message)
      : stream_(std::move(over)), framing_(how), reader_(how, max_message) {}

  loop::task<error> receive(ears told) override {
    for (;;) {
      auto got = co_await stream_->receive();
      if (!got) co_return got.error();
      if (got->empty()) break;
      told.on_bytes(got->bytes().size());
      auto fed = reader_.feed(got->bytes(), told.on_message);
      if (!fed) co_return fed.error();
    }
    // A last line without its LF is a message too.
    if (framing_ == proto::framing::line && !reader_.unfinished().empty()) {
      told.on_message(reader_.unfinished());
    }
    co_return failure(errc::connection_closed, "receive", "the peer has closed the connection")
        .error();
  }

  std::optional<std::size_t> offer(byte_span message) override {
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

 private:
  std::unique_ptr<stream> stream_;
  proto::framing framing_;
  proto::frame_reader reader_;
};

class datagram_port final : public message_port {
 public:
  datagram_port(loop::loop& on, std::unique_ptr<datagram> over)
      : loop_(on), datagrams_(std::move(over)) {}

  loop::task<error> receive(ears told) override {
    datagrams_->on_notice(told.on_notice);
    for (bool failing = false;;) {
      auto got = co_await datagrams_->receive();
      for (auto lost = datagrams_->take_send_errors(); lost != 0; --lost) {
        told.on_trouble(system_error(EIO, "send"), false);
      }
      if (got.result == -ENODEV) {
        co_return system_error(ENODEV, "receive", "the interface was removed");
      }
      if (got.result < 0) {
        told.on_trouble(system_error(-got.result, "receive"), !std::exchange(failing, true));
        co_await loop_.sleep(10ms);
        continue;
      }
      failing = false;
      told.on_bytes(got.data.bytes().size());
      if (!got.data.empty()) told.on_message(got.data.bytes());
    }
  }

  std::optional<std::size_t> offer(byte_span message) override {
    if (!datagrams_->send({}, loop::slice::copy_of(message))) return std::nullopt;
    return message.size();
  }
  [[nodiscard]] std::size_t max_size() const override { return datagrams_->max_size(); }
  [[nodiscard]] std::size_t unsent() const override { return 0; }
  loop::task<> flushed(loop::time_point /*limit*/) override { co_return; }

 private:
  loop::loop& loop_;
  std::unique_ptr<datagram> datagrams_;
};

}  // namespace

std::unique_ptr<message_port> make_message_port(loop::loop& on, connection&& made,
                                                proto::framing how, std::size_t max_message) {
  if (made.bytes) {
    return std::make_unique<stream_port>(std::move(made.bytes), how, max_message);
  }
  return std::make_unique<datagram_port>(on, std::move(made.messages));
}

}  // namespace strata::net
