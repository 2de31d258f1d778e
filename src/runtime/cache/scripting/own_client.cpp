#include "runtime/cache/scripting/own_client.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::string_view of_a_connection[] = {
    "monitor",    "psync", "sync",       "replconf",     "subscribe",    "unsubscribe",
    "psubscribe", "quit",  "ssubscribe", "sunsubscribe", "shutdown",     "reset",
    "hello",      "auth",  "select",     "client",       "punsubscribe", "replicaof",
    "slaveof",    "wait",  "failover",   "waitaof"};

proto::resp_value refusal(std::string text) {
  return {.what = proto::resp_value::kind::error, .text = std::move(text)};
}

}  // namespace

bool is_for_scripts(const command& command) {
  return command.group != "transactions" && command.group != "cluster" &&
         std::ranges::find(of_a_connection, command.row->name) == std::end(of_a_connection);
}

own_client::own_client(engine& engine, const work_hooks& hooks) : in_(engine), hooks_(hooks) {
  may_block = false;
  is_script = true;
  reply_.speak(3);
}

own_client::~own_client() { in_.home().leave(*this); }

proto::resp_value own_client::execute(unsigned in_database,
                                      std::span<const std::string_view> words) {
  const auto* const what = find_command(words[0]);
  if (what != nullptr && !is_for_scripts(*what)) {
    return refusal("ERR a script cannot execute '" + text::in_capitals(words[0]) +
                   "': the command is only for connections");
  }
  database = in_database;
  hooks_.begin_work();
  in_.execute(*this, words);
  in_.end_batch();
  hooks_.end_work();
  if (is_postponed) {
    in_.home().pausing().leave(*this);
    is_postponed = false;
    return refusal("BUSY the cache is paused (CLIENT PAUSE, FAILOVER or MIGRATE)");
  }
  proto::value_reader reader;
  reader.feed(as_bytes(reply_.take()));
  auto said = reader.next();
  assert(said && *said);
  return std::move(**said);
}

}  // namespace strata::runtime::cache
