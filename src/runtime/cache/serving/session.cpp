#include "runtime/cache/serving/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proto/resp/resp_text.hpp"
#include "runtime/cache/engine/clients/client_text.hpp"
#include "runtime/cache/serving/workbench.hpp"
#include "runtime/rate_limiter.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

// The pending replies of a client at which its requests wait.
constexpr std::size_t most_replies = 1U << 20U;
// The limit for pending pushes to a client, if client-output-buffer-limit sets none.
constexpr std::size_t most_pushed = 32U << 20U;
// A rate limit may be raised while a client waits for it.
constexpr auto longest_pause = 100ms;
// The number of a client's batches executed before others have their turn.
constexpr int most_batches = 32;

}  // namespace

session::session(workbench& workbench, session_link& link)
    : bench_(workbench),
      link_(link),
      reply_(workbench.replies(), link_),
      came_(workbench.loop().now()),
      last_received_(came_),
      caught_up_(workbench.loop()) {
  last_whole = came_;
  bench_.data().home().enter(*this);
  release_durable();
}

session::~session() {
  bench_.forget(*this);
  bench_.data().home().leave(*this);
}

// With a strict log, nothing unsafe is sent: output that depends on changes, one's own or others',
// waits until these are safe.
void session::release_durable() {
  const auto* const log = bench_.strict_log();
  if (log == nullptr) {
    held_.clear();
    link_.allow(UINT64_MAX);
    return;
  }
  while (!held_.empty() && held_.front().until <= log->safe()) {
    link_.allow(held_.front().replies);
    held_.pop_front();
  }
  // Replies to its changes must not be sent, and cannot be taken back.
  if (log->is_failing() && changed_until_ > log->safe() && !is_ending) {
    disconnect(false);
    return;
  }
  if (!log->holds_replies()) {
    held_.clear();
    link_.allow(link_.pushed());
    return;
  }
  const auto settled = held_.empty() ? link_.allowed() : held_.back().replies;
  if (settled == UINT64_MAX) link_.allow(link_.pushed());
  if (link_.pushed() > settled) {
    if (!held_.empty() && held_.back().until == log->appended()) {
      held_.back().replies = link_.pushed();
    } else {
      held_.push_back({log->appended(), link_.pushed()});
    }
  }
  if (!held_.empty()) bench_.hold(*this);
}

proto::reply_writer& session::reply() {
  if (replies == reply_mode::on || replies == reply_mode::skip_next) return pushes();
  auto& nowhere = bench_.nowhere();
  nowhere.speak(reply_.is_resp3() ? 3 : 2);
  return nowhere;
}

proto::reply_writer& session::pushes() {
  if (plain_) return *plain_;
  return reply_;
}

void session::push(const loop::slice& bytes) {
  if (!is_follower) ++uncounted_;
  reply_.flush();
  const auto waiting_bytes = link_.unsent() + bytes.size();
  if (is_too_much(waiting_bytes) || (limit().hard == 0 && waiting_bytes > most_pushed)) {
    disconnect(false);
    return;
  }
  if (plain_) {
    flush_plain();
    push_copy(as_bytes(proto::plain_text(as_text(bytes.bytes()))));
  } else {
    link_.push(bytes);
  }
  count_out();
  if (bench_.strict_log() != nullptr) bench_.loop().at_turn_end(*this);
}

const output_limit& session::limit() {
  using enum output_limits::kind;
  const auto which = is_follower ? replica : is_subscribed() ? pubsub : normal;
  return bench_.buffer_limits().of(which);
}

// Reports whether this number of bytes exceeds the hard limit, or has exceeded the soft limit for
// too long.
bool session::is_too_much(std::size_t bytes) {
  const auto& most = limit();
  if (most.hard != 0 && bytes >= static_cast<std::uint64_t>(most.hard)) return true;
  if (most.soft == 0 || bytes < static_cast<std::uint64_t>(most.soft)) {
    over_since_.reset();
    return false;
  }
  const auto now = bench_.loop().now();
  if (!over_since_) over_since_ = now;
  return now - *over_since_ > std::chrono::seconds(most.soft_s);
}

void session::push_copy(byte_span bytes) {
  link_.push(loop::slice::copy_of(bytes, net::byte_channel::room_behind_copy));
}

void session::flush_plain() {
  if (plain_) push_copy(as_bytes(proto::plain_text(plain_->take())));
}

void session::flush() {
  reply_.flush();
  flush_plain();
  count_out();
}

void session::disconnect(bool after_reply) {
  is_ending = true;
  if (!after_reply) link_.leave();
  bench_.loop().at_turn_end(*this);
}

void session::resume(bool has_changed_data) {
  if (std::exchange(owes_reply_, false)) ++uncounted_;
  const auto* const log = bench_.strict_log();
  if (has_changed_data && log != nullptr) changed_until_ = log->appended();
  bench_.loop().at_turn_end(*this);
}

std::string session::remote_address() const { return link_.peer().address.text(); }

std::string session::local_address() const { return link_.peer().local.text(); }

std::size_t session::held() const { return link_.input_bytes() + link_.unsent() + queued_bytes(); }

client_report session::report() const {
  const auto& peer = link_.peer();
  return {.id = id,
          .address = peer.address.text(),
          .protocol = protocol(),
          .tls_subject = peer.tls_subject,
          .since = came_,
          .last_active = last_received_,
          .passed = {.messages_in = commands_,
                     .bytes_in = received_,
                     .messages_out = replies_,
                     .bytes_out = sent()},
          .waiting = held(),
          .groups = {},
          .name = name,
          .database = database,
          .user = std::string(user_name(*this))};
}

loop::task<> session::room(std::size_t low) { co_await link_.room(low, loop::time_point::max()); }

loop::task<> session::end_of_output() { co_await link_.room(0, bench_.loop().now() + 5s); }

void session::note_received(std::size_t bytes, std::byte first) {
  received_ += bytes;
  last_received_ = bench_.loop().now();
  bench_.count().bytes_in.add(bytes);
  ++bench_.count_transfers().reads;
  bench_.memory().grew(bytes);
  if (std::exchange(is_new_, false) && !bench_.speaks_only_resp() && first != std::byte{'*'}) {
    plain_ = std::make_unique<kept_reply>();
  }
}

void session::on_turn_end() {
  flush();
  release_durable();
  if (is_ending) {
    caught_up_.notify();
    if (catching_up_.empty()) catching_up_.spawn(leave());
  } else if (!is_held() && catching_up_.empty()) {
    work();
  }
}

// Wakes the reader, once the pending output has been sent to the client.
loop::task<> session::leave() {
  co_await end_of_output();
  link_.leave();
}

loop::task<> session::catch_up() {
  while (rest_ != rest::none && !is_held() && !is_over()) {
    if (rest_ == rest::rate_limit) {
      co_await bench_.loop().sleep(
          std::clamp<loop::duration>(time_to_admission(), 0ms, longest_pause));
    } else if (rest_ == rest::room_for_replies) {
      co_await link_.room(most_replies / 2, write_limit());
    } else {
      co_await bench_.loop().sleep(0ms);
    }
    if (is_too_much(link_.unsent())) disconnect(false);
    if (!is_over()) work();
  }
  caught_up_.notify();
}

// Returns when the soft limit for pending output becomes a hard one.
loop::time_point session::write_limit() {
  if (!over_since_) return loop::time_point::max();
  return *over_since_ + std::chrono::seconds(limit().soft_s) + 1ms;
}

loop::duration session::time_to_admission() const {
  const auto now_ns = bench_.loop().now().time_since_epoch().count();
  return loop::duration(std::max(admitted_in_ns(rate_due_, now_ns, bench_.rate_limit()),
                                 bench_.all_admitted_in_ns(now_ns)));
}

bool session::try_admit() {
  if (!bench_.limits_rates()) return true;
  if (time_to_admission() > 0ns) return false;
  const auto now_ns = bench_.loop().now().time_since_epoch().count();
  bench_.admit_for_all(now_ns);
  return admit(rate_due_, now_ns, bench_.rate_limit());
}

void session::work() {
  {
    const work_turn turn(bench_);
    const auto* const log = bench_.strict_log();
    const auto before = log == nullptr ? 0 : log->appended();
    execute_batches();
    if (log != nullptr && log->appended() != before) changed_until_ = log->appended();
    flush();
    release_durable();
    if (is_too_much(link_.unsent())) disconnect(false);
    link_.settle();
    bench_.data().end_batch();
  }
  if (rest_ != rest::none && catching_up_.empty()) catching_up_.spawn(catch_up());
  caught_up_.notify();
}

void session::execute_batches() {
  rest_ = rest::none;
  for (int batches = 0; !is_held() && !is_over(); ++batches) {
    if (time_to_admission() > 0ns) {
      rest_ = rest::rate_limit;
      return;
    }
    if (batches == most_batches) {
      rest_ = rest::its_turn;
      return;
    }
    const auto batch = link_.next(bench_.limits(is_trusted), database);
    if (batch.requests.empty()) {
      reply_broken();
      return;
    }
    if (!execute(batch)) return;
  }
}

void session::reply_broken() {
  const auto why = link_.protocol_error();
  if (why.empty()) return;
  reply().error(fmt::format("ERR {}", why));
  ++uncounted_;
  is_broken_ = true;
}

bool session::execute(const request_view& batch) {
  const auto count = batch.requests.size();
  std::size_t without_reply = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& each = batch.requests[i];
    // The first was admitted when the batch was read.
    if (!try_admit() && i != 0) {
      rest_ = rest::rate_limit;
      link_.take_back(i);
      count_executed(i, without_reply);
      return false;
    }
    bench_.data().execute(*this, batch.words.subspan(each.first, each.count), each.what, each.hash);
    if (is_postponed) {
      link_.take_back(i);
      count_executed(i, without_reply);
      return false;
    }
    const bool is_silent = replies != reply_mode::on;
    if (is_silent) {
      ++without_reply;
      end_reply_mode();
    }
    const bool is_full = link_.unsent() > most_replies && !is_follower;
    if (!is_held() && !is_ending && !is_full) continue;
    if (is_full) rest_ = rest::room_for_replies;
    link_.take_back(i + 1);
    owes_reply_ = is_held() && !is_silent;
    count_executed(i + 1, without_reply + (owes_reply_ ? 1 : 0));
    return false;
  }
  count_executed(count, without_reply);
  return true;
}

void session::count_executed(std::size_t commands, std::size_t without_reply) {
  bench_.count_in(commands);
  commands_ += commands;
  if (commands != 0) last_whole = bench_.loop().now();
  uncounted_ += commands - without_reply;
}

// Called once per batch, and for each push from elsewhere to the client.
void session::count_out() {
  const auto pushed = link_.pushed();
  if (uncounted_ == 0 && pushed == said_) return;
  if (pushed != said_) ++bench_.count_transfers().writes;
  replies_ += uncounted_;
  bench_.count_out(std::exchange(uncounted_, 0), pushed - said_);
  said_ = pushed;
}

// CLIENT REPLY SKIP suppresses the reply of the next command only.
void session::end_reply_mode() {
  if (replies == reply_mode::skip) {
    replies = reply_mode::on;
  } else if (replies == reply_mode::skip_next) {
    replies = reply_mode::skip;
  }
}

}  // namespace strata::runtime::cache
