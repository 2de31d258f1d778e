// Master mode: one member is heard by all; the others are heard, at most, by the master.
#include <fmt/format.h>

#include "runtime/server/policy.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/server/shard_script.hpp"
#include "text/secret.hpp"

namespace strata::runtime::server {

namespace {

constexpr std::string_view claim_word = "master ";
constexpr unsigned most_failed_claims = 5;

class one_master final : public policy {
  void on_message(shard& at, member& from, const message& said) const override;
  static void claim(shard& at, member& from, std::string_view guess);
  static void forward(shard& at, member& from, const message& said);
};

claim_guard::claimant claimant_of(const member& of) { return {of.address(), of.has_connection()}; }

void answer_claim(shard& at, member& from, bool is_granted) {
  at.tell(from, {as_bytes(is_granted ? "master: ok" : "master: denied")});
  if (from.failed_claims != most_failed_claims) return;
  ++from.failed_claims;
  at.state().log->write_few(
      "too many wrong master passwords", level::warning,
      fmt::format("{} disconnected after too many wrong master passwords", from.address().text()),
      fmt::format("#{}", from.id()));
  from.dismiss(parting::refused);
}

void note_wrong(shard& at, member& from) {
  ++from.failed_claims;
  at.refuse(from.address(), refusal::password, "its master password is wrong");
  const auto who = claimant_of(from);
  const auto pause = at.state().claims.note_wrong(who, at.loop().now());
  if (pause == loop::duration{}) return;
  at.state().log->write_few(
      "wrong master passwords", level::warning,
      fmt::format("wrong master passwords from {}: all claims from there are denied for {} s",
                  who.address.text(), std::chrono::round<std::chrono::seconds>(pause).count()),
      fmt::format("#{}", from.id()));
}

void one_master::on_message(shard& at, member& from, const message& said) const {
  const auto text = as_text(said.bytes);
  if (text.starts_with(claim_word)) {
    claim(at, from, text.substr(claim_word.size()));
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

void one_master::claim(shard& at, member& from, std::string_view guess) {
  if (guess.ends_with('\r')) guess.remove_suffix(1);
  const bool may_try = from.failed_claims < most_failed_claims &&
                       at.state().claims.admits(claimant_of(from), at.loop().now());
  auto* const script = at.script();
  if (!may_try) {
    answer_claim(at, from, false);
  } else if (script != nullptr && script->decides_master()) {
    script->ask_master(from, guess);
  } else {
    const auto& password = at.options().master_pw;
    settle_claim(at, from, !password.empty() && text::equal_in_constant_time(guess, password));
  }
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

void settle_claim(shard& at, member& from, bool is_right) {
  if (is_right) {
    at.state().claims.note_right(claimant_of(from));
    // A later success takes over: a master whose machine died would else hold the place for ever.
    at.state().master = from.id();
    from.failed_claims = 0;
  } else {
    note_wrong(at, from);
  }
  answer_claim(at, from, is_right);
}

}  // namespace strata::runtime::server
