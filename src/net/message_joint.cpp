#include "net/message_joint.hpp"

#include <algorithm>
#include <utility>

namespace strata::net {

using namespace std::chrono_literals;

namespace {

// How long a peer may take to agree that it is over.
constexpr auto longest_parting = 3s;
// How long what was offered last may take to leave, where nobody says when it has.
constexpr loop::duration least_linger = 20ms;

}  // namespace

message_joint::message_joint(loop::loop& on, message_port& first, message_port& second,
                             settings how)
    : loop_(on),
      sides_{side{.port = &first}, side{.port = &second}},
      settings_(std::move(how)),
      changed_(on) {}

loop::task<std::optional<message_joint::breach>> message_joint::run() {
  auto& [first, second] = sides_;
  hearing_.spawn(hear(first, second));
  hearing_.spawn(hear(second, first));
  co_await changed_.wait([&] { return breach_ || first.is_over || second.is_over; });
  if (!breach_) co_await finish();
  hearing_.cancel();
  co_return std::move(breach_);
}

// One side has said all, or both.
loop::task<> message_joint::finish() {
  auto& [first, second] = sides_;
  auto& ended = first.is_over ? first : second;
  auto& left = first.is_over ? second : first;
  const bool hears_nothing = ended.port->ends() == port_end::all;
  const bool is_heard = !(settings_.is_one_way && is_first(ended));
  if (hears_nothing || !is_heard) {
    co_await end(left, ended.port->farewell());
  } else if (settings_.is_one_way) {
    // The second has ended, and the first may still have something to say to it.
    co_await changed_.wait([&] { return breach_ || left.is_over; });
  } else {
    if (left.port->ends() != port_end::half) co_await silence(left);
    co_await end(left, ended.port->farewell());
    if (left.port->ends() == port_end::half) {
      co_await changed_.wait([&] { return breach_ || left.is_over; });
    }
  }
  for (auto* const each : {&ended, &left}) {
    if (!breach_) each->port->end();
    if (!breach_) co_await each->port->flushed(loop::time_point::max());
  }
}

// Ends our direction, with what the other side said where it did, then waits for the peer's end if
// the port signals one.
loop::task<> message_joint::end(side& which, const std::optional<port_farewell>& farewell) {
  if (farewell) {
    which.port->end_with(*farewell);
  } else {
    which.port->end();
  }
  const auto limit = loop_.now() + longest_parting;
  switch (which.port->ends()) {
    case port_end::half: break;
    case port_end::none: co_await loop_.sleep(least_linger); break;
    case port_end::all:
      co_await changed_.wait([&] { return breach_ || which.is_over; }, limit);
      break;
  }
}

loop::task<> message_joint::silence(side& of) {
  const auto from = loop_.now();
  for (;;) {
    const auto limit = std::max(from, of.last_heard) + settings_.linger;
    if (loop_.now() >= limit) co_return;
    const bool is_over = co_await changed_.wait([&] { return breach_ || of.is_over; }, limit);
    if (is_over) co_return;
  }
}

void message_joint::break_off(const side& which, error why) {
  if (!breach_) breach_ = breach{.is_of_first = is_first(which), .why = std::move(why)};
  changed_.notify();
}

void message_joint::give_up() {
  break_off(sides_.front(),
            {.code = errc::canceled, .operation = "join two ports", .reason = "given up"});
}

loop::task<> message_joint::hear(side& from, side& to) {
  const bool is_dropped = settings_.is_one_way && !is_first(from);
  message_port::ears ears{.on_bytes = [](std::size_t) {},
                          .on_message =
                              [&, is_dropped](byte_span message) {
                                from.last_heard = loop_.now();
                                if (settings_.on_message) {
                                  settings_.on_message(is_first(from), message.size());
                                }
                                if (!is_dropped) pass(to, message);
                              },
                          .on_trouble =
                              [&](const error& why, bool is_new) {
                                if (settings_.on_trouble)
                                  settings_.on_trouble(is_first(from), why, is_new);
                              },
                          .on_notice =
                              [&](bool is_trouble, const std::string& what) {
                                if (settings_.on_notice) settings_.on_notice(is_trouble, what);
                              },
                          .room = [&] { return room(to); },
                          .hears_empty = settings_.hears_empty};
  auto why = co_await from.port->receive(std::move(ears));
  co_await room(to);
  if (why.code != errc::connection_closed || why.sys_errno != 0) {
    break_off(from, std::move(why));
    co_return;
  }
  from.is_over = true;
  changed_.notify();
}

void message_joint::pass(side& to, byte_span message) {
  if (message.size() > to.port->max_size()) {
    auto why = failure(errc::limit_exceeded,
                       "send a message of " + std::to_string(message.size()) + " bytes",
                       "the most is " + std::to_string(to.port->max_size()));
    const bool is_new = std::exchange(to.tells_size, false);
    if (settings_.on_trouble) settings_.on_trouble(is_first(to), why.error(), is_new);
    return;
  }
  if (to.waiting.empty() && to.port->offer(message)) return;
  to.waiting.emplace_back(as_text(message));
}

// Of datagrams nobody says when there is room again.
loop::task<> message_joint::room(side& to) {
  constexpr loop::duration longest = 64ms;
  loop::duration pause = 1ms;
  while (!to.waiting.empty() && !to.is_over) {
    while (!to.waiting.empty() && to.port->offer(as_bytes(to.waiting.front()))) {
      to.waiting.pop_front();
      pause = 1ms;
    }
    if (to.waiting.empty()) break;
    co_await loop_.sleep(pause);
    pause = std::min(pause * 2, longest);
  }
  to.waiting.clear();
  if (to.port->unsent() > settings_.most_unsent) {
    co_await to.port->flushed(loop::time_point::max());
  }
}

}  // namespace strata::net
