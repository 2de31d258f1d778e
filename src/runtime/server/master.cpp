// Master mode: all receive one member's messages; those of the others reach the master at most.
#include <fmt/format.h>

#include "runtime/server/policy.hpp"
#include "runtime/server/script/shard_script.hpp"
#include "runtime/server/shard.hpp"
#include "text/secret.hpp"

namespace strata::runtime::server {

namespace {

constexpr std::string_view claim_word = "master ";
constexpr unsigned most_failed_claims = 5;

class one_master final : public policy {
  void on_message(shard& shard, member& member, const message& message) const override;
  static void claim(shard& shard, member& member, std::string_view guess);
  static void forward(shard& shard, member& member, const message& message);
};

claim_guard::claimant claimant_of(const member& member) {
  return {member.address(), member.has_connection()};
}

void answer_claim(shard& shard, member& member, bool is_granted) {
  shard.deliveries().send(member, {as_bytes(is_granted ? "master: ok" : "master: denied")});
  if (member.failed_claims != most_failed_claims) return;
  ++member.failed_claims;
  shard.state().log->write_few(
      "too many wrong master passwords", level::warning,
      fmt::format("{} disconnected after too many wrong master passwords", member.address().text()),
      fmt::format("#{}", member.id()));
  member.dismiss(parting::refused);
}

void note_wrong(shard& shard, member& member) {
  ++member.failed_claims;
  shard.refuse(member.address(), refusal::password, "its master password is wrong");
  const auto who = claimant_of(member);
  const auto pause = shard.state().claims.note_wrong(who, shard.loop().now());
  if (pause == loop::duration{}) return;
  shard.state().log->write_few(
      "wrong master passwords", level::warning,
      fmt::format("wrong master passwords from {}: all claims from there are denied for {} s",
                  who.address.text(), std::chrono::round<std::chrono::seconds>(pause).count()),
      fmt::format("#{}", member.id()));
}

void one_master::on_message(shard& shard, member& member, const message& message) const {
  const auto text = as_text(message.bytes);
  if (text.starts_with(claim_word)) {
    claim(shard, member, text.substr(claim_word.size()));
    return;
  }
  const bool is_master = shard.state().master.load() == member.id();
  if (!is_master && !shard.options().master_forward) {
    shard.count().drop_message(drop::mode);
    return;
  }
  shard.keep(member, message);
  if (is_master) {
    shard.deliveries().relay(message, member.id());
  } else {
    forward(shard, member, message);
  }
}

void one_master::claim(shard& shard, member& member, std::string_view guess) {
  if (guess.ends_with('\r')) guess.remove_suffix(1);
  const bool may_try = member.failed_claims < most_failed_claims &&
                       shard.state().claims.admits(claimant_of(member), shard.loop().now());
  auto* const script = shard.script();
  if (!may_try) {
    answer_claim(shard, member, false);
  } else if (script != nullptr && script->decides_master()) {
    script->ask_master(member, guess);
  } else {
    const auto& password = shard.options().master_pw;
    settle_claim(shard, member, !password.empty() && text::equal_in_constant_time(guess, password));
  }
}

void one_master::forward(shard& shard, member& member, const message& message) {
  const auto master = shard.state().master.load();
  if (master == 0) {
    shard.count().drop_message(drop::mode);
    return;
  }
  shard.send_to_member(master, fmt::format("[{}] {}", member.id(), as_text(message.bytes)));
}

const one_master the_one;

}  // namespace

const policy& master_policy() { return the_one; }

void settle_claim(shard& shard, member& member, bool is_right) {
  if (is_right) {
    shard.state().claims.note_right(claimant_of(member));
    // A later success takes over: otherwise a master whose machine died would stay for ever.
    shard.state().master = member.id();
    member.failed_claims = 0;
  } else {
    note_wrong(shard, member);
  }
  answer_claim(shard, member, is_right);
}

}  // namespace strata::runtime::server
