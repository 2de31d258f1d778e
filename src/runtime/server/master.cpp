// Master mode: one member is heard by all; the others are heard, at most, by the master.
#include <fmt/format.h>

#include "runtime/server/shard.hpp"

namespace strata::runtime {

namespace {

constexpr std::string_view claim_word = "master ";
constexpr unsigned most_failed_claims = 5;

// Takes as long for a near miss as for a far one.
bool equal_in_constant_time(std::string_view guess, std::string_view secret) {
  unsigned difference = guess.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < guess.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(guess[i]) ^ static_cast<unsigned char>(expected);
  }
  return difference == 0;
}

}  // namespace

void shard::on_master_message(member& from, byte_span message) {
  const auto text = as_text(message);
  if (text.starts_with(claim_word)) {
    const bool granted = claim(from, text.substr(claim_word.size()));
    offer_alone(from, as_bytes(granted ? "master: ok" : "master: denied"));
    if (!granted && ++from.failed_claims >= most_failed_claims) {
      state_.log->write(level::warning, "disconnected after too many wrong master passwords",
                        fmt::format("#{}", from.id()));
      from.dismiss();
    }
    return;
  }
  const bool is_master = state_.master.load() == from.id();
  if (!is_master && !options_.master_forward) {
    counters_.drop_message(drop::mode);
    return;
  }
  if (file_ && !file_->append(message)) counters_.drop_message(drop::file);
  if (!state_.messages->idle()) {
    state_.messages->write(level::info, std::string(text), fmt::format("#{}", from.id()));
  }
  if (is_master) {
    say(from, message);
  } else {
    forward(from, message);
  }
}

bool shard::claim(member& from, std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (from.failed_claims >= most_failed_claims) return false;
  if (options_.master_pw.empty() || !equal_in_constant_time(text, options_.master_pw)) {
    return false;
  }
  // A later success takes over: a master whose machine died would else hold the place for ever.
  state_.master = from.id();
  from.failed_claims = 0;
  return true;
}

void shard::forward(member& from, byte_span message) {
  const auto master = state_.master.load();
  if (master == 0) {
    counters_.drop_message(drop::mode);
    return;
  }
  const auto text = fmt::format("[{}] {}", from.id(), as_text(message));
  const auto& where = state_.shards[master >> shard_bits];
  if (where.who == this) {
    tell_master(as_bytes(text));
  } else {
    where.where->post([who = where.who, text] { who->tell_master(as_bytes(text)); });
  }
}

void shard::tell_master(byte_span message) {
  if (auto* const master = find(state_.master.load())) {
    offer_alone(*master, message);
  } else {
    counters_.drop_message(drop::mode);
  }
}

void shard::offer_alone(member& to, byte_span message) {
  publish();
  broadcast_log alone(framing_);
  alone.append(message);
  to.offer(alone.take());
}

}  // namespace strata::runtime
