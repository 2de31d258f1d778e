#include "net/joint.hpp"

namespace strata::net {

joint::joint(loop::loop& on, byte_channel& first, byte_channel& second, settings how)
    : first_(first), second_(second), settings_(std::move(how)), changed_(on) {}

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

void joint::note(const byte_channel& which, error why) {
  if (!breach_) breach_.reset(new breach{.is_of_first = &which == &first_, .why = std::move(why)});
  changed_.raise();
}

void joint::note_broken(const byte_channel& which) {
  if (which.broken() != 0) note(which, system_error(which.broken(), "send"));
}

void joint::give_up() {
  note(first_, {.code = errc::canceled, .operation = "join two channels", .reason = "given up"});
}

loop::task<> joint::direction(byte_channel& from, byte_channel& to) {
  const bool is_changed =
      settings_.changing != nullptr && settings_.changing->changes(&from == &first_);
  return is_changed ? carry_changed(from, to) : carry(from, to);
}

// Calls `with` with what has come. What is lent is given back before anything else is waited for.
template <class With>
joint::turn joint::take(byte_channel& from, byte_channel& to, With with) {
  const auto got = from.take_ready();
  if (!got) {
    note(from, got.error());
    return turn::broken;
  }
  // One that cannot send any more is ended by this side, and its reader sees no more than that.
  for (auto* const each : {&to, &from}) {
    if (each->broken() == 0) continue;
    note_broken(*each);
    return turn::broken;
  }
  if (got->empty()) return turn::end;
  if (settings_.on_bytes) settings_.on_bytes(&from == &first_, got->bytes().size());
  with(got->bytes());
  return to.unsent() <= settings_.most_unsent ? turn::go_on : turn::wait;
}

joint::turn joint::pass(byte_channel& from, byte_channel& to) {
  return take(from, to, [&to](byte_span bytes) { to.push_copy(bytes); });
}

loop::task<> joint::carry(byte_channel& from, byte_channel& to) {
  for (;;) {
    co_await from.ready();
    const auto next = pass(from, to);
    if (next == turn::broken) co_return;
    if (next == turn::end) break;
    if (next == turn::wait) {
      const bool has_room = co_await to.room(settings_.most_unsent / 2, loop::time_point::max());
      (void)has_room;
    }
  }
  to.end();
  --open_;
  changed_.raise();
}

loop::task<> joint::carry_changed(byte_channel& from, byte_channel& to) {
  for (;;) {
    co_await from.ready();
    std::string piece;
    const auto next = take(from, to, [&piece](byte_span bytes) { piece = as_text(bytes); });
    if (next == turn::broken) co_return;
    if (next == turn::end) break;
    auto changed = co_await settings_.changing->change(&from == &first_, std::move(piece));
    if (!changed) {
      note(first_, std::move(changed.error()));
      co_return;
    }
    if (!changed->empty()) to.push_copy(as_bytes(*changed));
    if (to.unsent() > settings_.most_unsent) {
      const bool has_room = co_await to.room(settings_.most_unsent / 2, loop::time_point::max());
      (void)has_room;
    }
  }
  to.end();
  --open_;
  changed_.raise();
}

// It is read all the same: else nobody would notice that it broke.
loop::task<> joint::pass_over(byte_channel& from) {
  for (;;) {
    const auto got = co_await from.receive();
    if (!got) {
      note(from, got.error());
      co_return;
    }
    if (got->empty()) co_return;
  }
}

}  // namespace strata::net
