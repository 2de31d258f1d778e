// Scripts.
#include "runtime/cache/commands/scripts.hpp"

#include <algorithm>
#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::size_t first_argument = 2;  // behind the text, or its digest

void eval(call& c) {
  if (auto* const scripts = scripts_of(c)) scripts->evaluate(c, c[1], first_argument, false);
}

void eval_ro(call& c) {
  if (auto* const scripts = scripts_of(c)) scripts->evaluate(c, c[1], first_argument, true);
}

void evalsha(call& c) {
  if (auto* const scripts = scripts_of(c)) scripts->evaluate_known(c, c[1], first_argument, false);
}

void evalsha_ro(call& c) {
  if (auto* const scripts = scripts_of(c)) scripts->evaluate_known(c, c[1], first_argument, true);
}

void script_load(call& c) {
  if (auto* const scripts = scripts_of(c)) scripts->load(c, c[2]);
}

void script_exists(call& c) {
  const auto* const scripts = scripts_of(c);
  if (scripts == nullptr) return;
  c.reply.array(c.size() - 2);
  for (std::size_t at = 2; at < c.size(); ++at) {
    c.reply.integer(scripts->knows(c[at]) ? 1 : 0);
  }
}

void script_flush(call& c) {
  const bool is_known = c.size() == 2 || (c.size() == 3 && (c.is(2, "SYNC") || c.is(2, "ASYNC")));
  if (!is_known) {
    c.fail("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    return;
  }
  auto* const scripts = scripts_of(c);
  if (scripts == nullptr) return;
  scripts->forget_all();
  c.reply.ok();
}

void script_kill(call& c) { kill_script(c, false); }

// A debugger stops the script between its lines, for a client that waits: strata has none.
void script_debug(call& c) {
  if (c.is(2, "NO")) {
    c.reply.ok();
  } else {
    c.fail("ERR the cache has no debugger of scripts: use redis.log");
  }
}

void script_help(call& c) {
  static constexpr std::array<std::string_view, 17> lines = {
      "SCRIPT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "DEBUG (YES|SYNC|NO)",
      "    Set the debug mode for subsequent scripts executed.",
      "EXISTS <sha1> [<sha1> ...]",
      "    Return information about the existence of the scripts in the script cache.",
      "FLUSH [ASYNC|SYNC]",
      "    Flush the Lua scripts cache. Very dangerous on replicas.",
      "    When called without the optional mode argument, the behavior is determined by the",
      "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
      "    * ASYNC: Asynchronously flush the scripts cache.",
      "    * SYNC: Synchronously flush the scripts cache.",
      "KILL",
      "    Kill the currently executing Lua script.",
      "LOAD <script>",
      "    Load a script into the scripts cache without executing it.",
      "HELP",
      "    Prints this help."};
  c.reply_lines(lines);
}

// clang-format off
const command_row script_subcommands[] = {
    {"debug", 3, "noscript", {0, 0, 0},
     "", "scripting", "3.2.0",
     "sets the mode of the debugger", script_debug},
    {"exists", -3, "noscript", {0, 0, 0},
     "", "scripting", "2.6.0",
     "reports which scripts are known", script_exists},
    {"flush", -2, "noscript", {0, 0, 0},
     "", "scripting", "2.6.0",
     "forgets all scripts", script_flush},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "scripting", "5.0.0",
     "shows the subcommands", script_help},
    {"kill", 2, "noscript allow_busy", {0, 0, 0},
     "", "scripting", "2.6.0",
     "ends the running script", script_kill},
    {"load", 3, "noscript stale", {0, 0, 0},
     "", "scripting", "2.6.0",
     "keeps a script", script_load},
};

const command_row script_rows[] = {
    {"eval", -3, "noscript stale skip_monitor no_mandatory_keys movablekeys", {0, 0, 0},
     "RW access update 2 n0 1 1", "scripting", "2.6.0",
     "runs a script", eval, {}, trait_runs_script},
    {"eval_ro", -3, "noscript stale skip_monitor no_mandatory_keys readonly movablekeys", {0, 0, 0},
     "RO access 2 n0 1 1", "scripting", "7.0.0",
     "runs a script that only reads", eval_ro},
    {"evalsha", -3, "noscript stale skip_monitor no_mandatory_keys movablekeys", {0, 0, 0},
     "RW access update 2 n0 1 1", "scripting", "2.6.0",
     "runs a kept script", evalsha, {}, trait_runs_script},
    {"evalsha_ro", -3, "noscript stale skip_monitor no_mandatory_keys readonly movablekeys",
     {0, 0, 0},
     "RO access 2 n0 1 1", "scripting", "7.0.0",
     "runs a kept script that only reads", evalsha_ro},
    {"script", -2, "", {0, 0, 0},
     "", "", "2.6.0",
     "manages scripts", nullptr, script_subcommands},
};
// clang-format on

}  // namespace

evaluator* scripts_of(call& call) {
  auto* const scripts = call.home().scripts();
  if (scripts == nullptr) call.fail("ERR scripts are not available");
  return scripts;
}

void kill_script(call& call, bool is_function) {
  auto& interrupted = call.home().interrupted();
  if (!interrupted.is_on()) {
    call.fail("NOTBUSY No scripts in execution right now.");
  } else if (interrupted.script().has_changed_data()) {
    call.fail(
        "UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
        "either wait the script termination or kill the server in a hard way using the SHUTDOWN "
        "NOSAVE command.");
  } else if (interrupted.is_of_function() != is_function) {
    call.fail(interrupted.refusal());
  } else {
    interrupted.stop("Script killed by user with SCRIPT KILL...");
    call.reply.ok();
  }
}

command_group script_commands() { return {"scripting", script_rows}; }

}  // namespace strata::runtime::cache
