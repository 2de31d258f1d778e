#include "runtime/cache/session.hpp"

#include <algorithm>
#include <utility>

#include "proto/resp_text.hpp"
#include "runtime/cache/shard.hpp"
#include "runtime/rate_limiter.hpp"

namespace strata::runtime {

using namespace std::chrono_literals;

namespace {

// Replies that may wait for a client before its requests do.
constexpr std::size_t most_replies = 1U << 20U;
// What others say to a client may wait up to this, if client-output-buffer-limit has no other
// limit.
constexpr std::size_t most_pushed = 32U << 20U;
// What a client that waits for a key may say meanwhile before it is read from no more.
constexpr std::size_t most_unexecuted = 1U << 20U;
// A rate limit may be raised while somebody waits for it.
constexpr auto longest_pause = 100ms;

}  // namespace

cache_session::cache_session(cache_shard& home, loop::socket connection)
    : home_(home),
      stream_(home.owner(), std::move(connection)),
      reply_(home.shared_output(), stream_.out()) {
  home_.data().enter(*this);
  settle();
}

cache_session::~cache_session() {
  home_.forget(*this);
  home_.data().leave(*this);
}

// With a strict log nothing is sent that was not settled: what speaks of changes, one's own or
// others', goes when these are safe.
void cache_session::settle() {
  auto& out = stream_.out();
  const auto* const log = home_.strict_log();
  if (log == nullptr) {
    held_.clear();
    out.allow(UINT64_MAX);
    return;
  }
  while (!held_.empty() && held_.front().until <= log->safe()) {
    out.allow(held_.front().replies);
    held_.pop_front();
  }
  if (!log->holds_replies()) {
    held_.clear();
    out.allow(out.pushed());
    return;
  }
  const auto settled = held_.empty() ? out.allowed() : held_.back().replies;
  if (settled == UINT64_MAX) out.allow(out.pushed());
  if (out.pushed() > settled) {
    if (!held_.empty() && held_.back().until == log->appended()) {
      held_.back().replies = out.pushed();
    } else {
      held_.push_back({log->appended(), out.pushed()});
    }
  }
  if (!held_.empty()) home_.hold(*this);
}

proto::reply_writer& cache_session::reply() {
  if (replies == reply_mode::on || replies == reply_mode::skip_next) {
    if (plain_) return *plain_;
    return reply_;
  }
  auto& nowhere = home_.nowhere();
  nowhere.speak(reply_.is_resp3() ? 3 : 2);
  return nowhere;
}

void cache_session::push(const loop::slice& bytes) {
  reply_.flush();
  const auto waiting_bytes = stream_.out().bytes() + bytes.size();
  if (is_too_much(waiting_bytes) || (limit().hard == 0 && waiting_bytes > most_pushed)) {
    disconnect(false);
    return;
  }
  if (plain_) {
    say_plainly();
    stream_.out().push_copy(as_bytes(proto::plain_text(as_text(bytes.bytes()))));
    return;
  }
  stream_.out().push(bytes);
  if (home_.strict_log() != nullptr) home_.owner().at_turn_end(*this);
}

const output_limit& cache_session::limit() {
  using enum output_limits::kind;
  const auto which = is_follower ? replica : is_subscribed() ? pubsub : normal;
  return home_.data().settings().output.of(which);
}

// Whether so many bytes may not wait, or not any longer.
bool cache_session::is_too_much(std::size_t bytes) {
  const auto& most = limit();
  if (most.hard != 0 && bytes >= static_cast<std::uint64_t>(most.hard)) return true;
  if (most.soft == 0 || bytes < static_cast<std::uint64_t>(most.soft)) {
    over_since_.reset();
    return false;
  }
  const auto now = home_.owner().now();
  if (!over_since_) over_since_ = now;
  return now - *over_since_ > std::chrono::seconds(most.soft_s);
}

void cache_session::say_plainly() {
  if (plain_) stream_.out().push_copy(as_bytes(proto::plain_text(plain_->take())));
}

void cache_session::disconnect(bool after_reply) {
  is_ending = true;
  if (!after_reply) stream_.abort();
  home_.owner().at_turn_end(*this);
}

void cache_session::resume() { home_.owner().at_turn_end(*this); }

std::string cache_session::remote_address() const {
  return home_.owner().remote_address(stream_.handle()).text();
}

std::string cache_session::local_address() const {
  return home_.owner().local_address(stream_.handle()).text();
}

loop::task<> cache_session::run() {
  while (!is_ending && !is_broken_) {
    {
      auto got = co_await stream_.receive();
      if (!got || got->empty()) break;
      home_.count().bytes_in.add(got->bytes().size());
      if (std::exchange(is_new_, false) && !home_.speaks_only_resp() &&
          got->bytes().front() != std::byte{'*'}) {
        plain_ = std::make_unique<kept_reply>();
      }
      reader_.feed(got->bytes());
      work();
    }
    // Nothing is read from who does not read: what it asks for waits in its own kernel's buffers.
    while (has_to_pause() && !is_ending && stream_.out().broken() == 0) {
      co_await home_.owner().sleep(pause());
      work_on();
    }
  }
  // The client may have closed only its sending side: it still gets what waits for it.
  co_await flush();
}

// Delivers what was said before the connection goes.
loop::task<> cache_session::flush() {
  reply_.flush();
  say_plainly();
  const auto limit = home_.owner().now() + 5s;
  while (!stream_.out().empty() && stream_.out().broken() == 0 && home_.owner().now() < limit) {
    co_await home_.owner().sleep(5ms);
  }
}

void cache_session::on_turn_end() {
  reply_.flush();
  say_plainly();
  settle();
  if (is_ending) {
    // The reader wakes up and sees it.
    if (stream_.out().empty()) stream_.abort();
    return;
  }
  if (is_held()) return;
  work();
  // The reader may be waiting for more to come, and so would not look after the rest.
  if (has_rest_) home_.owner().arm_after(*this, pause());
}

void cache_session::work_on() {
  if (is_too_much(stream_.out().bytes())) disconnect(false);
  const bool may = has_rest_ && !is_held() && !is_ending;
  if (may && stream_.out().bytes() < most_replies / 2) work();
}

void cache_session::on_timer() {
  work_on();
  if (has_rest_) home_.owner().arm_after(*this, pause());
}

bool cache_session::has_to_pause() const {
  return has_rest_ || (is_held() && reader_.held() > most_unexecuted);
}

loop::duration cache_session::pause() const {
  return is_early_ ? std::clamp<loop::duration>(until_turn(), 1ms, longest_pause) : 1ms;
}

loop::duration cache_session::until_turn() const {
  return loop::duration(admitted_in_ns(rate_due_, home_.owner().now().time_since_epoch().count(),
                                       home_.rate_limit()));
}

bool cache_session::take_turn() {
  return admit(rate_due_, home_.owner().now().time_since_epoch().count(), home_.rate_limit());
}

void cache_session::work() {
  home_.begin_work();
  has_rest_ = is_early_ = false;
  while (!is_held() && !is_ending && !is_broken_) {
    if (until_turn() > 0ns) {
      has_rest_ = is_early_ = true;
      break;
    }
    if (!read_batch() || !execute_batch()) break;
  }
  reply_.flush();
  say_plainly();
  settle();
  if (is_too_much(stream_.out().bytes())) disconnect(false);
  reader_.keep();
  home_.data().end_batch();
  home_.end_work();
}

// Reads some requests and asks memory for what they will need; says whether there are any.
bool cache_session::read_batch() {
  auto& batch = home_.batch();
  batch.words.clear();
  batch.requests.clear();
  auto outcome = proto::request_reader::outcome::request;
  reader_.set_limits(home_.limits(is_trusted));
  const auto& data = home_.data()[database];
  while (batch.requests.size() < request_batch::most) {
    const auto first = batch.words.size();
    const auto begin = reader_.position();
    outcome = reader_.next(batch.words);
    if (outcome != proto::request_reader::outcome::request) break;
    const auto count = batch.words.size() - first;
    if (count == 0) continue;
    request_batch::request made{first, count, find_command(batch.words[first]),
                                0,     begin, reader_.position()};
    if (made.what != nullptr && made.what->first_key != 0 && made.what->first_key < count) {
      made.hash = hash_of(batch.words[first + made.what->first_key]);
      data.prefetch_bucket(made.hash);
    }
    batch.requests.push_back(made);
  }
  if (batch.requests.size() > 1) {
    for (const auto& each : batch.requests) {
      if (each.hash != 0) data.prefetch_entry(each.hash);
    }
  }
  if (batch.requests.empty() && outcome == proto::request_reader::outcome::broken) {
    reply().error("ERR " + reader_.error());
    is_broken_ = true;
  }
  return !batch.requests.empty();
}

// False: the rest has to wait.
bool cache_session::execute_batch() {
  auto& batch = home_.batch();
  const auto count = batch.requests.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto& each = batch.requests[i];
    // The first was not too early when the batch was read.
    if (!take_turn() && i != 0) {
      has_rest_ = is_early_ = true;
      reader_.go_back(batch.requests[i - 1].end);
      home_.count().messages_in.add(i);
      return false;
    }
    home_.data().execute(*this, std::span(batch.words).subspan(each.first, each.count), each.what,
                         each.hash);
    if (is_postponed) {
      reader_.go_back(each.begin);
      home_.count().messages_in.add(i);
      return false;
    }
    if (replies != reply_mode::on) end_reply_mode();
    const bool is_full = stream_.out().bytes() > most_replies && !is_follower;
    if (!waiting && !is_ending && !is_full) continue;
    has_rest_ = is_full;
    reader_.go_back(each.end);
    home_.count().messages_in.add(i + 1);
    return false;
  }
  home_.count().messages_in.add(count);
  return true;
}

// CLIENT REPLY SKIP silences the next command, and only that.
void cache_session::end_reply_mode() {
  if (replies == reply_mode::skip) {
    replies = reply_mode::on;
  } else if (replies == reply_mode::skip_next) {
    replies = reply_mode::skip;
  }
}

}  // namespace strata::runtime
