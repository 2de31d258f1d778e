// The part of the engine that decides whether a command may run.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

// Returns what an error shows of a word: as in Redis, it ends at its first NUL.
std::string_view shown_part(std::string_view word, std::size_t most) {
  return word.substr(0, std::min(word.find('\0'), most));
}

std::string unknown_command(std::span<const std::string_view> words) {
  constexpr std::size_t most = 128;
  std::string arguments;
  for (const auto& each : words.subspan(1)) {
    if (arguments.size() >= most) break;
    arguments += fmt::format("'{}' ", shown_part(each, most - arguments.size()));
  }
  return fmt::format("ERR unknown command '{}', with args beginning with: {}",
                     shown_part(words[0], most), arguments);
}

}  // namespace

// Reports whether the command must wait for a pause's end; its client then executes it again.
bool engine::postpone(client& client, const command& command,
                      std::span<const std::string_view> words) {
  if (front_.pausing().is_over(keys_.now_ms())) front_.pausing().end();
  if (!front_.pausing().holds(client, command, words, front_.scripts())) return false;
  --front_.statistics().counted().commands;
  --client.calls;
  front_.pausing().postpone(client);
  return true;
}

// A refused EXEC ends its transaction, and its error reports that.
void engine::refuse(client& client, const command& command, std::string text) {
  if (command.row->name == "exec") {
    if (text.starts_with("ERR ")) text.erase(0, 4);
    text = "EXECABORT Transaction discarded because of: " + text;
    client.in_transaction = client.transaction_failed = client.watch_failed = false;
    client.queued.clear();
    front_.watched().unwatch(client);
  }
  reject(client, &command, text);
}

// Replies with an error, and counts it. `command` is null if there is no such command.
void engine::reject(client& client, const command* command, std::string_view text) {
  auto& statistics = front_.statistics();
  statistics.count_error(text);
  if (command != nullptr) ++statistics.counted_commands()[command->index].rejected;
  client.reply().error(text);
}

// Checks a command before it runs. Returns null if it was refused, with an error reply.
const command* engine::accept(client& client, std::span<const std::string_view> words,
                              const command* command) {
  // What was executed elsewhere before is known here, whatever this cache's clients may know.
  const auto is_known = [&](const cache::command* each) {
    return each != nullptr && (client.is_replay || parameters_.knows(each->since));
  };
  if (!is_known(command)) command = nullptr;
  if (command != nullptr && !command->row->subcommands.empty() && words.size() > 1) {
    const auto* const container = command;
    command = find_subcommand(*container, words[1]);
    if (!is_known(command)) {
      reject(client, nullptr,
             fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", shown_part(words[1], 128),
                         text::in_capitals(container->row->name)));
      return nullptr;
    }
  }
  if (command == nullptr) {
    reject(client, nullptr, unknown_command(words));
    return nullptr;
  }
  if (!command->takes(words.size()) || command->run == nullptr) {
    refuse(client, *command,
           fmt::format("ERR wrong number of arguments for '{}' command", command->full_name()));
    return nullptr;
  }
  if (!client.is_trusted && !command->has(flag_no_auth)) {
    reject(client, command, "NOAUTH Authentication required.");
    return nullptr;
  }
  if (client.in_transaction && command->has(flag_no_multi)) {
    reject(client, command, "ERR Command not allowed inside a transaction");
    return nullptr;
  }
  if (const auto denied = denial(parameters_.access, *command);
      denied && !client.is_replay && !client.is_script) {
    refuse(client, *command, *denied);
    return nullptr;
  }
  client.last_command = command;
  const auto context = client.in_transaction ? acl_context::transaction : acl_context::toplevel;
  if (const auto denied = front_.check_access(client, *command, words, context)) {
    refuse(client, *command, denied->reply(*command));
    return nullptr;
  }
  if (const auto why = reason_to_refuse(client, *command); !why.empty()) {
    refuse(client, *command, std::string(why));
    return nullptr;
  }
  if (client.is_subscribed() && !client.is_resp3() && !command->has(trait_for_subscribers)) {
    reject(client, command,
           fmt::format("ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
                       "QUIT / RESET are allowed in this context",
                       command->full_name()));
    return nullptr;
  }
  if (front_.interrupted().is_on() && !command->has(flag_allow_busy)) {
    refuse(client, *command, std::string(front_.interrupted().refusal()));
    return nullptr;
  }
  return command;
}

// Checks a command of a script, in the words of Redis 7.
const command* engine::accept_for_script(const execution& outer, client& hand,
                                         std::span<const std::string_view> words,
                                         const script_rules& rules) {
  const auto* command = find_command(words[0]);
  if (command != nullptr && !command->row->subcommands.empty() && words.size() > 1) {
    command = find_subcommand(*command, words[1]);
  }
  if (command == nullptr || !parameters_.knows(command->since)) {
    reject(hand, nullptr, "ERR Unknown Redis command called from script");
    return nullptr;
  }
  if (!command->takes(words.size()) || command->run == nullptr) {
    reject(hand, command, "ERR Wrong number of args calling Redis command from script");
    return nullptr;
  }
  if (command->has(flag_no_script)) {
    reject(hand, command, "ERR This Redis command is not allowed from script");
    return nullptr;
  }
  if (front_.has_stale_data() && !outer.who.is_replay && !command->has(flag_stale)) {
    reject(hand, command, "ERR Can not execute the command on a stale replica");
    return nullptr;
  }
  if (rules.is_read_only && (command->has(flag_write) || command->has(trait_propagated))) {
    reject(hand, command, "ERR Write commands are not allowed from read-only scripts.");
    return nullptr;
  }
  if (const auto denied = denial(parameters_.access, *command); denied && !outer.who.is_replay) {
    reject(hand, command, *denied);
    return nullptr;
  }
  if (const auto denied = front_.check_access(outer.who, *command, words, acl_context::script)) {
    reject(hand, command, denied->script_error());
    return nullptr;
  }
  const auto why = reason_to_refuse(hand, *command);
  const bool is_ignored = rules.may_exceed_memory && why == out_of_memory_error;
  if (!why.empty() && !is_ignored) {
    reject(hand, command, why);
    return nullptr;
  }
  return command;
}

// A replayed command is never refused: it was accepted where it was first executed. EXEC is refused
// if a command of its transaction would be, so that either all of them are executed or none.
std::string_view engine::reason_to_refuse(const client& client, const command& command) {
  if (client.is_replay) return {};
  const bool is_exec = client.executes_queued(command);
  const auto has = [&](command_flag flag) {
    return command.has(flag) ||
           (is_exec && std::ranges::any_of(client.queued,
                                           [&](const auto& each) { return each.what->has(flag); }));
  };
  const auto may_all = [&](command_flag flag) {
    return command.has(flag) &&
           (!is_exec || std::ranges::all_of(
                            client.queued, [&](const auto& each) { return each.what->has(flag); }));
  };
  const auto& availability = front_.availability();
  if (availability.is_restricted()) {
    if (availability.is_loading() && !may_all(flag_loading)) {
      return "LOADING Redis is loading the dataset in memory";
    }
    const auto refusal = availability.refusal();
    if (!refusal.empty() && has(flag_write)) return refusal;
    if (front_.has_stale_data() && !may_all(flag_stale)) return stale_data_error;
  }
  if (parameters_.maxmemory <= 0 || make_room()) return {};
  // Queued commands take memory too.
  const bool is_queued = client.in_transaction && !command.has(trait_ends_transaction);
  return is_queued || has(flag_deny_oom) ? out_of_memory_error : std::string_view();
}

// May evict keys, which is a change, so not while changes are postponed, nor while a script is
// interrupted. Returns false if there is no room.
bool engine::make_room() {
  if (keys_.has_room() || front_.pausing().holds_writes()) return true;
  if (front_.interrupted().is_on() && !is_in_interrupted()) return true;
  const bool timed = parameters_.latency_threshold_ms > 0;
  const auto began_us = timed ? keys_.clock().steady_us() : 0;
  const bool is_there = keys_.make_room();
  if (timed) {
    front_.statistics().note_latency("eviction-cycle", keys_.clock().steady_us() - began_us);
  }
  return is_there;
}

}  // namespace strata::runtime::cache
