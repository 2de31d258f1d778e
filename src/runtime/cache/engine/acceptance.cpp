// The engine's part that decides whether a command may run.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

std::string unknown_command(std::span<const std::string_view> words) {
  constexpr std::size_t most = 128;
  std::string arguments;
  for (const auto& each : words.subspan(1)) {
    if (arguments.size() >= most) break;
    arguments += fmt::format("'{}' ", each.substr(0, most - arguments.size()));
  }
  return fmt::format("ERR unknown command '{}', with args beginning with: {}",
                     words[0].substr(0, most), arguments);
}

}  // namespace

// Whether the command has to wait for a pause's end; who sent it will send it again.
bool engine::postpone(client& who, const command& what) {
  if (front_.pausing().is_over(keys_.now_ms())) {
    front_.pausing().end();
    return false;
  }
  if (!front_.pausing().holds(who, what)) return false;
  --front_.counted().commands;
  --who.calls;
  front_.pausing().postpone(who);
  return true;
}

// An EXEC that is refused ends its transaction, and says so.
void engine::refuse(client& who, const command& what, std::string text) {
  if (what.row->name == "exec") {
    if (text.starts_with("ERR ")) text.erase(0, 4);
    text = "EXECABORT Transaction discarded because of: " + text;
    who.in_transaction = who.transaction_failed = who.watch_failed = false;
    who.queued.clear();
    front_.watched().unwatch(who);
  }
  who.reply().error(text);
}

// What a command must pass before it runs. Null when it did not, and was told so.
const command* engine::accept(client& who, std::span<const std::string_view> words,
                              const command* what) {
  auto& reply = who.reply();
  if (what != nullptr && !what->row->subcommands.empty() && words.size() > 1) {
    const auto* const container = what;
    what = find_subcommand(*container, words[1]);
    if (what == nullptr) {
      reply.error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", words[1].substr(0, 128),
                              text::in_capitals(container->row->name)));
      return nullptr;
    }
  }
  if (what == nullptr) {
    reply.error(unknown_command(words));
    return nullptr;
  }
  if (!what->takes(words.size()) || what->run == nullptr) {
    refuse(who, *what,
           fmt::format("ERR wrong number of arguments for '{}' command", what->full_name()));
    return nullptr;
  }
  if (!who.is_trusted && !what->has(flag_no_auth)) {
    reply.error("NOAUTH Authentication required.");
    return nullptr;
  }
  if (const auto denied = denial(parameters_.access, *what);
      denied && !who.is_replay && !who.is_script) {
    refuse(who, *what, *denied);
    return nullptr;
  }
  if (who.in_transaction && what->has(flag_no_multi)) {
    reply.error("ERR Command not allowed inside a transaction");
    return nullptr;
  }
  if (const auto why = reason_to_refuse(who, *what); !why.empty()) {
    refuse(who, *what, std::string(why));
    return nullptr;
  }
  if (who.is_subscribed() && !reply.is_resp3() && !what->has(trait_for_subscribers)) {
    reply.error(fmt::format(
        "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
        "allowed in this context",
        what->full_name()));
    return nullptr;
  }
  return what;
}

// A replayed command is never refused: it was accepted where it was first executed. EXEC is refused
// if a command of its transaction would be, so that all of them are executed or none.
std::string_view engine::reason_to_refuse(const client& who, const command& what) {
  if (who.is_replay) return {};
  const bool is_exec = who.in_transaction && what.row->name == "exec";
  const auto has = [&](command_flag flag) {
    return what.has(flag) || (is_exec && std::ranges::any_of(who.queued, [&](const auto& each) {
                                return each.what->has(flag);
                              }));
  };
  if (front_.is_restricted()) {
    const bool may_load = what.has(flag_loading) &&
                          (!is_exec || std::ranges::all_of(who.queued, [](const auto& each) {
                            return each.what->has(flag_loading);
                          }));
    if (front_.is_loading() && !may_load) return "LOADING Redis is loading the dataset in memory";
    const auto refusal = front_.refusal();
    if (!refusal.empty() && has(flag_write)) return refusal;
  }
  if (parameters_.maxmemory <= 0 || make_room()) return {};
  // What is queued takes memory too.
  const bool is_queued = who.in_transaction && !what.has(trait_ends_transaction);
  return is_queued || has(flag_deny_oom) ? out_of_memory_error : std::string_view();
}

// Keys may have to go for it. False: there is no room.
bool engine::make_room() {
  if (keys_.has_room()) return true;
  const bool timed = parameters_.latency_threshold_ms > 0;
  const auto began_us = timed ? keys_.clock().steady_us() : 0;
  const bool is_there = keys_.make_room();
  if (timed) front_.note_latency("eviction-cycle", keys_.clock().steady_us() - began_us);
  return is_there;
}

}  // namespace strata::runtime::cache
