#include "net/message_joint.hpp"

#include <algorithm>
#include <utility>

namespace strata::net {

using namespace std::chrono_literals;

namespace {

// How long a peer may take to confirm the end.
constexpr auto longest_parting = 3s;
// How long the last messages may take to leave on a port that does not report when they have left.
constexpr loop::duration least_linger = 20ms;

}  // namespace

message_joint::message_joint(loop::loop& loop, message_port& first, message_port& second,
                             settings settings)
    : loop_(loop),
      sides_{side{.port = &first}, side{.port = &second}},
      settings_(std::move(settings)),
      changed_(loop) {}

loop::task<std::optional<message_joint::breach>> message_joint::run() {
  auto& [first, second] = sides_;
  receiving_.spawn(receive(first, second));
  receiving_.spawn(receive(second, first));
  co_await changed_.wait([&] { return breach_ || first.is_over || second.is_over; });
  if (!breach_) co_await finish();
  receiving_.cancel();
  co_return std::move(breach_);
}

// Runs when one side has ended, or both.
loop::task<> message_joint::finish() {
  auto& [first, second] = sides_;
  auto& ended = first.is_over ? first : second;
  auto& left = first.is_over ? second : first;
  const bool receives_nothing = ended.port->ends() == port_end::all;
  const bool is_received = !(settings_.is_one_way && is_first(ended));
  if (receives_nothing || !is_received) {
    co_await end(left, ended.port->farewell());
  } else if (settings_.is_one_way) {
    // The second has ended; the first may still send to it.
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

// Ends our direction, with the other side's farewell if it gave one, then waits for the peer's end
// if the port signals one.
loop::task<> message_joint::end(side& side, const std::optional<port_farewell>& farewell) {
  if (farewell) {
    side.port->end_with(*farewell);
  } else {
    side.port->end();
  }
  const auto limit = loop_.now() + longest_parting;
  switch (side.port->ends()) {
    case port_end::half: break;
    case port_end::none: co_await loop_.sleep(least_linger); break;
    case port_end::all:
      co_await changed_.wait([&] { return breach_ || side.is_over; }, limit);
      break;
  }
}

loop::task<> message_joint::silence(side& side) {
  const auto from = loop_.now();
  for (;;) {
    const auto limit = std::max(from, side.last_received) + settings_.linger;
    if (loop_.now() >= limit) co_return;
    const bool is_over = co_await changed_.wait([&] { return breach_ || side.is_over; }, limit);
    if (is_over) co_return;
  }
}

void message_joint::break_off(const side& side, error why) {
  if (!breach_) breach_ = breach{.is_of_first = is_first(side), .why = std::move(why)};
  changed_.notify();
}

void message_joint::give_up() {
  break_off(sides_.front(),
            {.code = errc::canceled, .operation = "join two ports", .reason = "given up"});
}

loop::task<> message_joint::receive(side& source, side& side) {
  const bool is_dropped = settings_.is_one_way && !is_first(source);
  message_port::receiver receiver{.on_bytes = [](std::size_t) {},
                                  .on_message =
                                      [&, is_dropped](byte_span message) {
                                        source.last_received = loop_.now();
                                        if (settings_.on_message) {
                                          settings_.on_message(is_first(source), message);
                                        }
                                        if (!is_dropped) pass(side, message);
                                      },
                                  .on_trouble =
                                      [&](const error& why, bool is_new) {
                                        if (settings_.on_trouble)
                                          settings_.on_trouble(is_first(source), why, is_new);
                                      },
                                  .on_notice =
                                      [&](bool is_trouble, const std::string& text) {
                                        if (settings_.on_notice)
                                          settings_.on_notice(is_trouble, text);
                                      },
                                  .room = [&] { return room(side); },
                                  .receives_empty = settings_.receives_empty};
  auto why = co_await source.port->receive(std::move(receiver));
  co_await room(side);
  if (why.code != errc::connection_closed || why.sys_errno != 0) {
    break_off(source, std::move(why));
    co_return;
  }
  source.is_over = true;
  changed_.notify();
}

void message_joint::pass(side& side, byte_span message) {
  if (message.size() > side.port->max_size()) {
    auto why = failure(errc::limit_exceeded,
                       "send a message of " + std::to_string(message.size()) + " bytes",
                       "the limit is " + std::to_string(side.port->max_size()));
    const bool is_new = std::exchange(side.reports_size, false);
    if (settings_.on_trouble) settings_.on_trouble(is_first(side), why.error(), is_new);
    return;
  }
  if (side.waiting.empty() && side.port->offer(message)) return;
  side.waiting.emplace_back(as_text(message));
}

// A datagram port does not report when it has room again.
loop::task<> message_joint::room(side& side) {
  constexpr loop::duration longest = 64ms;
  loop::duration pause = 1ms;
  while (!side.waiting.empty() && !side.is_over) {
    while (!side.waiting.empty() && side.port->offer(as_bytes(side.waiting.front()))) {
      side.waiting.pop_front();
      pause = 1ms;
    }
    if (side.waiting.empty()) break;
    co_await loop_.sleep(pause);
    pause = std::min(pause * 2, longest);
  }
  side.waiting.clear();
  if (side.port->unsent() > settings_.most_unsent) {
    co_await side.port->flushed(loop::time_point::max());
  }
}

}  // namespace strata::net
