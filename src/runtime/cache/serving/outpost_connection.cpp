#include "runtime/cache/serving/outpost_connection.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cache/engine/command.hpp"
#include "runtime/cache/serving/outpost.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

// The requests of one message; and the bytes behind them at which reading from the client stops.
constexpr std::size_t most_requests = 1024;
constexpr std::size_t most_arrived = 1U << 20U;
// Less pending output than this is counted after a while, when most of it has been sent.
constexpr std::size_t much_unsent = 64U << 10U;
constexpr auto while_sending = 100ms;
// As for connections on the engine's loop; when the cache ends, for what has just been said.
constexpr auto longest_flush = 5s;
constexpr auto last_flush = 100ms;

}  // namespace

outpost_connection::outpost_connection(outpost& outpost, std::unique_ptr<net::stream> stream,
                                       crossing& shared)
    : outpost_(outpost), stream_(std::move(stream)), shared_(shared), changed_(outpost.loop()) {
  shared_.peer = stream_->peer();
  shared_.transport = stream_->transport();
  shared_.descriptor_number = stream_->out().socket().fd();
  shared_.connection = this;
  tell(outpost_message::kind::arrival);
}

outpost_connection::~outpost_connection() {
  shared_.connection = nullptr;
  tell(outpost_message::kind::goodbye);
  if (has_goodbye_) outpost_.forget(shared_);
}

loop::task<> outpost_connection::run() {
  while (!is_over_) {
    // Nothing that was received is in this frame while it waits: most connections wait.
    co_await stream_->ready();
    const auto received = stream_->take_ready();
    if (!received || received->empty()) break;
    take(received->bytes());
    if (arrived_.size() > most_arrived) {
      co_await changed_.wait([this] { return arrived_.size() <= most_arrived || is_over_; });
    }
  }
  tell(outpost_message::kind::end_of_input);
  co_await changed_.wait([this] { return is_over_ || (!is_lent_ && arrived_.empty()); });
  // The client may have closed only its sending side: it still gets its pending output.
  tell(outpost_message::kind::finish);
  co_await changed_.wait([this] { return has_goodbye_; });
  co_await flushed();
}

loop::task<> outpost_connection::flushed() {
  const auto longest = outpost_.is_closing() ? loop::duration(last_flush) : longest_flush;
  co_await stream_->flushed(outpost_.loop().now() + longest);
}

void outpost_connection::take(byte_span bytes) {
  if (received_ == 0) first_ = bytes.front();
  received_ += bytes.size();
  const auto text = as_text(bytes);
  if (is_lent_) {
    arrived_ += text;
    shared_.input_bytes += text.size();
    return;
  }
  shared_.load = outpost_.take_load();
  shared_.load->input.assign(text);
  shared_.reader.feed(as_bytes(shared_.load->input));
  parse();
}

void outpost_connection::parse() {
  auto& batch = shared_.load->batch;
  auto& reader = shared_.reader;
  batch.clear();
  reader.set_limits(shared_.limits);
  auto outcome = proto::request_reader::outcome::request;
  while (batch.requests.size() < most_requests) {
    const auto first = batch.words.size();
    const auto begin = reader.position();
    outcome = reader.next(batch.words);
    if (outcome != proto::request_reader::outcome::request) break;
    batch.add(first, begin, reader.position());
  }
  // What a request of this batch permits is parsed after it.
  is_parsed_ = outcome == proto::request_reader::outcome::incomplete;
  shared_.is_broken = outcome == proto::request_reader::outcome::broken && batch.requests.empty();
  is_lent_ = shared_.is_broken || !batch.requests.empty();
  if (!is_lent_) end_load();
  shared_.input_bytes = is_lent_ ? shared_.load->input.size() : reader.held();
  shared_.input_room = reader.room();
  tell(is_lent_ ? outpost_message::kind::requests : outpost_message::kind::received);
}

void outpost_connection::end_load() {
  shared_.reader.keep();
  outpost_.give_back(std::move(shared_.load));
}

void outpost_connection::tell(outpost_message::kind subject) {
  count_sent();
  outpost_.send(
      {.what = subject, .first = first_, .of = &shared_, .received = std::exchange(received_, 0)});
}

void outpost_connection::on_output(const loop::slice& bytes) {
  stream_->push(bytes);
  count_sent();
  if (stream_->unsent() != 0 && !std::exchange(is_counting_, true)) {
    working_.spawn(count_when_sent());
  }
}

// Otherwise the engine would believe until the next message that the client does not read.
loop::task<> outpost_connection::count_when_sent() {
  if (stream_->unsent() < much_unsent) co_await outpost_.loop().sleep(while_sending);
  co_await stream_->writable(0);
  count_sent();
  is_counting_ = false;
  if (stream_->broken() != 0) tell(outpost_message::kind::room);
}

void outpost_connection::on_settled() {
  if (!std::exchange(is_known_, true) && shared_.keep_alive_s != 0) {
    stream_->keep_alive(std::chrono::seconds(shared_.keep_alive_s));
  }
  is_lent_ = false;
  if (shared_.load && !is_parsed_) {
    parse();
  } else if (shared_.load) {
    end_load();
    shared_.input_bytes = shared_.reader.held() + arrived_.size();
  }
  if (!is_lent_ && !arrived_.empty()) {
    shared_.load = outpost_.take_load();
    shared_.load->input = std::exchange(arrived_, {});
    shared_.reader.feed(as_bytes(shared_.load->input));
    parse();
  }
  changed_.notify();
}

void outpost_connection::on_room(std::size_t low) { working_.spawn(tell_room(low)); }

loop::task<> outpost_connection::tell_room(std::size_t low) {
  co_await stream_->writable(low);
  tell(outpost_message::kind::room);
}

void outpost_connection::on_leave() {
  is_over_ = true;
  stream_->leave();
  changed_.notify();
}

void outpost_connection::on_goodbye() {
  is_over_ = has_goodbye_ = true;
  changed_.notify();
  working_.spawn(end_soon());
}

// Wakes the reader, once the pending output has been sent to the client.
loop::task<> outpost_connection::end_soon() {
  co_await flushed();
  stream_->leave();
}

}  // namespace strata::runtime::cache
