#include "net/joint.hpp"

namespace strata::net {

joint::joint(loop::loop& on, byte_channel& first, byte_channel& second, settings how)
    : first_(first), second_(second), settings_(std::move(how)), changed_(on) {}

loop::task<std::optional<joint::breach>> joint::run() {
  open_ = settings_.is_one_way ? 1 : 2;
  carrying_.spawn(carry(first_, second_));
  carrying_.spawn(settings_.is_one_way ? pass_over(second_) : carry(second_, first_));
  while (open_ != 0 && !breach_) co_await changed_.wait();
  constexpr auto for_ever = loop::time_point::max();
  for (auto* const each : {&first_, &second_}) {
    if (breach_) break;
    const bool is_flushed = co_await each->flushed(for_ever);
    (void)is_flushed;
    if (each->broken() != 0) note(*each, system_error(each->broken(), "send"));
  }
  carrying_.cancel();
  co_return std::move(breach_);
}

void joint::note(const byte_channel& which, error why) {
  if (!breach_) breach_ = breach{.is_of_first = &which == &first_, .why = std::move(why)};
  changed_.raise();
}

void joint::give_up() {
  note(first_, {.code = errc::canceled, .operation = "join two channels", .reason = "given up"});
}

loop::task<> joint::carry(byte_channel& from, byte_channel& to) {
  for (;;) {
    {
      // What is lent is given back before anything else is waited for.
      const auto got = co_await from.receive();
      if (!got) {
        note(from, got.error());
        co_return;
      }
      // One that cannot send any more is ended by this side, and its reader sees no more than that.
      for (auto* const each : {&to, &from}) {
        if (each->broken() == 0) continue;
        note(*each, system_error(each->broken(), "send"));
        co_return;
      }
      if (got->empty()) break;
      if (settings_.on_bytes) settings_.on_bytes(&from == &first_, got->bytes().size());
      to.push_copy(got->bytes());
    }
    if (to.unsent() <= settings_.most_unsent) continue;
    const bool has_room = co_await to.room(settings_.most_unsent / 2, loop::time_point::max());
    (void)has_room;
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
