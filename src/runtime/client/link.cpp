#include "runtime/client/link.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/connector.hpp"
#include "net/link_watch.hpp"

namespace strata::runtime {

using namespace std::chrono_literals;

link::link(loop::loop& owner, client_options options, std::shared_ptr<journal> log,
           std::shared_ptr<journal> messages)
    : loop_(owner),
      options_(std::move(options)),
      url_(*net::parse_endpoint(options_.endpoint())),
      framing_(proto::framing_of(options_.framing)),
      log_(std::move(log)),
      messages_(std::move(messages)),
      backoff_(options_.reconnect_seed) {}

loop::task<result<void>> link::open(std::function<void(std::string)> on_end) {
  on_end_ = std::move(on_end);
  if (!options_.write.empty()) {
    auto opened = file_sink::open(loop_, options_.write, [this](const std::string& why) {
      counters_.errors.add();
      log_->write(level::error, why);
    });
    if (!opened) co_return std::unexpected(opened.error());
    file_ = std::move(*opened);
  }
  if (!options_.reconnect) {
    auto first = co_await connect();
    if (!first) co_return first;
  }
  tasks_.spawn(keep());
  co_return result<void>{};
}

loop::task<> link::close(loop::time_point limit) {
  limit = std::min(limit, loop_.now() + 5s);
  if (stream_) co_await stream_->flushed(limit);
  if (file_) co_await file_->flushed(limit);
  tasks_.cancel();
  end_connection();
}

loop::task<> link::keep() {
  for (;;) {
    std::string why;
    if (!stream_ && !datagram_) {
      auto made = co_await connect();
      if (!made) why = describe(made.error());
    }
    if (stream_) why = co_await read_stream();
    if (datagram_) why = co_await read_datagrams();
    end_connection();
    if (!options_.reconnect) {
      on_end_(why);
      co_return;
    }
    const auto wait = backoff_.next(options_.reconnect_min, options_.reconnect_max);
    if (*options_.reconnect != 0 && backoff_.failures() > *options_.reconnect) {
      on_end_(fmt::format("{} (gave up after {} attempts)", why, *options_.reconnect));
      co_return;
    }
    log_->write(level::warning, fmt::format("{}; next attempt in {:.1f} s", why,
                                            std::chrono::duration<double>(wait).count()));
    if (url_.is_ethernet()) {
      co_await net::link_comes(loop_, url_.host, wait);
    } else {
      co_await loop_.sleep(wait);
    }
  }
}

loop::task<result<void>> link::connect() {
  auto made = co_await net::connect(loop_, url_, loop::from_seconds(options_.connect_timeout));
  if (!made) {
    counters_.errors.add();
    co_return std::unexpected(made.error());
  }
  stream_ = std::move(made->bytes);
  datagram_ = std::move(made->messages);
  if (datagram_) {
    datagram_->on_notice([this](bool is_trouble, const std::string& what) {
      if (is_trouble) counters_.errors.add();
      log_->write(is_trouble ? level::warning : level::info, what);
    });
  }
  begin_connection();
  co_return result<void>{};
}

void link::begin_connection() {
  backoff_.succeeded();
  connections_.add();
  connected_ = true;
  log_->write(level::info, "connected to " + url_.text());
  for (const auto& each : queue_) push(as_bytes(each));
  queue_.clear();
}

void link::end_connection() {
  connected_ = false;
  if (stream_ && stream_->unsent() != 0) {
    counters_.drop_message(drop::connection);
    log_->write(level::error,
                fmt::format("the connection ended before {} bytes were sent", stream_->unsent()));
  }
  stream_.reset();
  datagram_.reset();
}

loop::task<std::string> link::read_stream() {
  proto::frame_reader reader(framing_, options_.max_message);
  for (;;) {
    auto got = co_await stream_->receive();
    if (!got)
      co_return fmt::format("the connection to {} broke: {}", url_.text(), describe(got.error()));
    if (got->empty()) {
      // A last line without its LF is a message too.
      if (framing_ == proto::framing::line && !reader.unfinished().empty()) {
        on_message(reader.unfinished());
      }
      co_return fmt::format("{} closed the connection", url_.text());
    }
    counters_.bytes_in.add(got->bytes().size());
    const auto fed = reader.feed(got->bytes(), [this](byte_span message) { on_message(message); });
    if (!fed) {
      counters_.drop_message(drop::too_large);
      counters_.errors.add();
      co_return describe(fed.error());
    }
  }
}

loop::task<std::string> link::read_datagrams() {
  bool failing = false;
  for (;;) {
    auto got = co_await datagram_->receive();
    counters_.errors.add(datagram_->take_send_errors());
    if (got.result == -ENODEV) {
      co_return describe(system_error(ENODEV, "use " + url_.text(), "the interface was removed"));
    }
    if (got.result < 0) {
      counters_.errors.add();
      if (!failing) {
        log_->write(level::warning, describe(system_error(-got.result, "reach " + url_.text(),
                                                          "see that a server listens there")));
      }
      failing = true;
      co_await loop_.sleep(10ms);
      continue;
    }
    failing = false;
    counters_.bytes_in.add(got.data.bytes().size());
    if (!got.data.empty()) on_message(got.data.bytes());
  }
}

void link::on_message(byte_span message) {
  counters_.messages_in.add();
  counters_.rate_in.add(second_of(loop_.now()), 1);
  if (options_.mode == "out") {
    counters_.drop_message(drop::mode);
    return;
  }
  if (file_ && !file_->append(message)) counters_.drop_message(drop::file);
  if (!messages_->idle()) messages_->write(level::info, std::string(as_text(message)));
}

void link::push(byte_span message) {
  std::string framed;
  const auto envelope = proto::envelope_for(framing_, message.size());
  if (!datagram_) framed = as_text(envelope.head());
  framed += as_text(message);
  if (!datagram_) framed += envelope.after;
  const auto data = loop::slice::copy_of(as_bytes(framed));
  if (datagram_) {
    if (!datagram_->send({}, data)) counters_.drop_message(drop::slow_client);
  } else {
    stream_->push(data);
  }
  counters_.messages_out.add();
  counters_.bytes_out.add(framed.size());
  counters_.rate_out.add(second_of(loop_.now()), 1);
}

result<send_outcome> link::send(byte_span message) {
  const std::string operation = "send to " + url_.text();
  if (options_.mode == "in") {
    return failure(errc::conflict, operation, "the client's mode is 'in': it only receives",
                   "change it with 'strata edit NAME --mode inout'");
  }
  const auto limit = datagram_
                         ? std::min<std::uint64_t>(options_.max_message, datagram_->max_size())
                         : options_.max_message;
  if (message.size() > limit) {
    return failure(errc::limit_exceeded, operation,
                   fmt::format("the message has {} bytes, more than {}", message.size(), limit),
                   limit == options_.max_message ? "raise --max-message"
                                                 : "that is the most that its endpoint takes");
  }
  if (connected_) {
    if (stream_ && stream_->unsent() + message.size() > options_.max_buffer) {
      counters_.drop_message(drop::slow_client);
      return failure(errc::limit_exceeded, operation,
                     fmt::format("{} bytes wait already for it to read", stream_->unsent()),
                     "send more slowly or raise --max-buffer");
    }
    push(message);
    return send_outcome{.delivered = 1};
  }
  if (queue_.size() < options_.queue) {
    queue_.emplace_back(as_text(message));
    return send_outcome{.queued = 1};
  }
  return failure(errc::conflict, operation,
                 options_.queue == 0 ? "it is not connected"
                                     : fmt::format("it is not connected and its queue is full ({})",
                                                   options_.queue),
                 options_.queue == 0 ? "wait, or keep messages with --queue N" : "raise --queue");
}

void link::apply(const client_options& changed) {
  const auto framing = options_.framing;
  options_ = changed;
  options_.framing = framing;
}

}  // namespace strata::runtime
