// Master mode: one member is heard by all; the others are heard, at most, by the master.
#include <fmt/format.h>

#include "runtime/server/policy.hpp"
#include "runtime/server/shard.hpp"
#include "text/secret.hpp"

namespace strata::runtime::server {

namespace {

constexpr std::string_view claim_word = "master ";
constexpr unsigned most_failed_claims = 5;

class one_master final : public policy {
  void on_message(shard& at, member& from, const message& said) const override;
  static bool claim(shard& at, member& from, std::string_view guess);
  static void forward(shard& at, member& from, const message& said);
};

void one_master::on_message(shard& at, member& from, const message& said) const {
  const auto text = as_text(said.bytes);
  if (text.starts_with(claim_word)) {
    const bool granted = claim(at, from, text.substr(claim_word.size()));
    at.tell(from, {as_bytes(granted ? "master: ok" : "master: denied")});
    if (from.failed_claims == most_failed_claims) {
      ++from.failed_claims;
      at.state().log->write_few("too many wrong master passwords", level::warning,
                                fmt::format("{} disconnected after too many wrong master passwords",
                                            from.address().text()),
                                fmt::format("#{}", from.id()));
      from.dismiss();
    }
    return;
  }
  const bool is_master = at.state().master.load() == from.id();
  if (!is_master && !at.options().master_forward) {
    at.count().drop_message(drop::mode);
    return;
  }
  at.keep(from, said);
  if (is_master) {
    at.say(from, said);
  } else {
    forward(at, from, said);
  }
}

bool one_master::claim(shard& at, member& from, std::string_view guess) {
  if (guess.ends_with('\r')) guess.remove_suffix(1);
  if (from.failed_claims >= most_failed_claims) return false;
  auto& guard = at.state().claims;
  const auto now = at.loop().now();
  const claim_guard::claimant who{from.address(), from.has_connection()};
  if (!guard.admits(who, now)) return false;
  const auto& password = at.options().master_pw;
  if (password.empty() || !text::equal_in_constant_time(guess, password)) {
    ++from.failed_claims;
    if (const auto pause = guard.note_wrong(who, now); pause != loop::duration{}) {
      at.state().log->write_few(
          "wrong master passwords", level::warning,
          fmt::format("wrong master passwords from {}: all claims from there are denied for {} s",
                      who.address.text(), std::chrono::round<std::chrono::seconds>(pause).count()),
          fmt::format("#{}", from.id()));
    }
    return false;
  }
  guard.note_right(who);
  // A later success takes over: a master whose machine died would else hold the place for ever.
  at.state().master = from.id();
  from.failed_claims = 0;
  return true;
}

void one_master::forward(shard& at, member& from, const message& said) {
  const auto master = at.state().master.load();
  if (master == 0) {
    at.count().drop_message(drop::mode);
    return;
  }
  at.tell_member(master, fmt::format("[{}] {}", from.id(), as_text(said.bytes)));
}

const one_master the_one;

}  // namespace

const policy& master_policy() { return the_one; }

}  // namespace strata::runtime::server
