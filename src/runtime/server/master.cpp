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
    if (!granted && ++from.failed_claims >= most_failed_claims) {
      at.state().log->write(level::warning, "disconnected after too many wrong master passwords",
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
  const auto& password = at.options().master_pw;
  if (password.empty() || !text::equal_in_constant_time(guess, password)) return false;
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
