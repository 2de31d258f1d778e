#include "net/joint.hpp"

namespace strata::net {

joint::joint(loop::loop& loop, byte_channel& first, byte_channel& second, settings settings)
    : first_(first), second_(second), settings_(settings), changed_(loop) {}

loop::task<std::unique_ptr<joint::breach>> joint::run() {
  open_ = settings_.is_one_way ? 1 : 2;
  carrying_.spawn(direction(first_, second_));
  carrying_.spawn(settings_.is_one_way ? pass_over(second_) : direction(second_, first_));
  while (open_ != 0 && !breach_) co_await changed_.wait();
  if (!breach_) co_await flush();
  carrying_.cancel();
  co_return std::move(breach_);
}

loop::task<> joint::flush() {
  constexpr auto for_ever = loop::time_point::max();
  for (auto* const each : {&first_, &second_}) {
    if (breach_) break;
    const bool is_flushed = co_await each->flushed(for_ever);
    (void)is_flushed;
    note_broken(*each);
  }
}

void joint::note(const byte_channel& channel, error why) {
  if (!breach_)
    breach_.reset(new breach{.is_of_first = &channel == &first_, .why = std::move(why)});
  changed_.raise();
}

void joint::note_broken(const byte_channel& channel) {
  if (channel.broken() != 0) note(channel, system_error(channel.broken(), "send"));
}

void joint::give_up() {
  note(first_, {.code = errc::canceled, .operation = "join two channels", .reason = "given up"});
}

loop::task<> joint::direction(byte_channel& channel, byte_channel& destination) {
  const bool is_changed =
      settings_.changing != nullptr && settings_.changing->changes(&channel == &first_);
  return is_changed ? carry_changed(channel, destination) : carry(channel, destination);
}

// Calls `with` with the bytes that arrived. Lent memory is returned before any other wait.
template <class With>
joint::turn joint::take(byte_channel& channel, byte_channel& destination, With with) {
  const auto got = channel.take_ready();
  if (!got) {
    note(channel, got.error());
    return turn::broken;
  }
  // A channel that cannot send any more is ended by this side, and its reader sees only an end.
  for (auto* const each : {&destination, &channel}) {
    if (each->broken() == 0) continue;
    note_broken(*each);
    return turn::broken;
  }
  if (got->empty()) return turn::end;
  if (settings_.observing != nullptr) {
    settings_.observing->on_bytes(&channel == &first_, got->bytes());
  }
  with(got->bytes());
  return destination.unsent() <= settings_.most_unsent ? turn::go_on : turn::wait;
}

joint::turn joint::pass(byte_channel& channel, byte_channel& destination) {
  return take(channel, destination,
              [&destination](byte_span bytes) { destination.push_copy(bytes); });
}

loop::task<> joint::carry(byte_channel& channel, byte_channel& destination) {
  for (;;) {
    co_await channel.ready();
    const auto next = pass(channel, destination);
    if (next == turn::broken) co_return;
    if (next == turn::end) break;
    if (next == turn::wait) {
      const bool has_room =
          co_await destination.room(settings_.most_unsent / 2, loop::time_point::max());
      (void)has_room;
    }
  }
  destination.end();
  --open_;
  changed_.raise();
}

loop::task<> joint::carry_changed(byte_channel& channel, byte_channel& destination) {
  for (;;) {
    co_await channel.ready();
    std::string piece;
    const auto next =
        take(channel, destination, [&piece](byte_span bytes) { piece = as_text(bytes); });
    if (next == turn::broken) co_return;
    if (next == turn::end) break;
    auto changed = co_await settings_.changing->change(&channel == &first_, std::move(piece));
    if (!changed) {
      note(first_, std::move(changed.error()));
      co_return;
    }
    if (!changed->empty()) destination.push_copy(as_bytes(*changed));
    if (destination.unsent() > settings_.most_unsent) {
      const bool has_room =
          co_await destination.room(settings_.most_unsent / 2, loop::time_point::max());
      (void)has_room;
    }
  }
  destination.end();
  --open_;
  changed_.raise();
}

// Reads and drops: without reading, a break would go unnoticed.
loop::task<> joint::pass_over(byte_channel& channel) {
  for (;;) {
    const auto got = co_await channel.receive();
    if (!got) {
      note(channel, got.error());
      co_return;
    }
    if (got->empty()) co_return;
  }
}

}  // namespace strata::net
