#include "runtime/cache/serving/connection.hpp"

#include <utility>

#include "runtime/cache/serving/workbench.hpp"

namespace strata::runtime::cache {

namespace {

// The bytes that a client that waits for a key may send before reading from it stops.
constexpr std::size_t most_unexecuted = 1U << 20U;

}  // namespace

connection::connection(workbench& workbench, std::unique_ptr<net::stream> stream)
    : bench_(workbench), stream_(std::move(stream)), session_(workbench, *this) {}

loop::task<> connection::run() {
  while (!session_.is_over()) {
    // Nothing that was received is in this frame while it waits: most connections wait.
    co_await stream_->ready();
    if (!take(stream_->take_ready())) break;
    // Reading from a client that does not read its replies stops: its requests wait in its own
    // kernel's buffers.
    if (has_to_pause() && !session_.is_over()) {
      co_await session_.caught_up([this] { return !has_to_pause() || session_.is_over(); });
    }
  }
  // A script that it runs goes on without it.
  co_await session_.caught_up([this] { return !session_.is_interrupted; });
  // The client may have closed only its sending side: it still gets its pending output.
  session_.flush();
  co_await session_.end_of_output();
}

bool connection::take(const result<loop::buffer>& received) {
  if (!received || received->empty()) return false;
  const auto bytes = received->bytes();
  session_.note_received(bytes.size(), bytes.front());
  reader_.feed(bytes);
  session_.work();
  return true;
}

bool connection::has_to_pause() const {
  return session_.has_rest() || (session_.is_held() && reader_.held() > most_unexecuted);
}

loop::task<> connection::room(std::size_t low, loop::time_point limit) {
  co_await stream_->writable(low, limit);
}

request_view connection::next(const proto::request_limits& limits, unsigned database) {
  auto& batch = bench_.batch();
  batch.clear();
  reader_.set_limits(limits);
  is_broken_ = false;
  const auto& data = bench_.data().keys()[database];
  while (batch.requests.size() < request_batch::most) {
    const auto first = batch.words.size();
    const auto begin = reader_.position();
    const auto outcome = reader_.next(batch.words);
    if (outcome != proto::request_reader::outcome::request) {
      // What a request of this batch permits is read the next time.
      is_broken_ = outcome == proto::request_reader::outcome::broken && batch.requests.empty();
      break;
    }
    const auto* const added = batch.add(first, begin, reader_.position());
    if (added != nullptr && added->hash != 0) data.prefetch_bucket(added->hash);
  }
  if (batch.requests.size() > 1) {
    for (const auto& each : batch.requests) {
      if (each.hash != 0) data.prefetch_entry(each.hash);
    }
  }
  return {batch.words, batch.requests};
}

std::string_view connection::protocol_error() const {
  return is_broken_ ? std::string_view(reader_.error()) : "";
}

void connection::take_back(std::size_t first) {
  const auto& requests = bench_.batch().requests;
  reader_.go_back(first < requests.size() ? requests[first].begin : requests.back().end);
}

}  // namespace strata::runtime::cache
