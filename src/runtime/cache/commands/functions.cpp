// Functions: libraries of them, and their calls.
#include <fmt/format.h>

#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/scripts.hpp"
#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

void fcall(call& c) {
  if (auto* const scripts = scripts_of(c)) scripts->call_function(c, false);
}

void fcall_ro(call& c) {
  if (auto* const scripts = scripts_of(c)) scripts->call_function(c, true);
}

void function_load(call& c) {
  bool replaces = false;
  for (std::size_t at = 2; at + 1 < c.size(); ++at) {
    if (!c.is(at, "REPLACE")) {
      c.fail(fmt::format("ERR Unknown option given: {}", c[at]));
      return;
    }
    replaces = true;
  }
  if (auto* const scripts = scripts_of(c)) scripts->load_library(c, c[c.size() - 1], replaces);
}

void function_delete(call& c) {
  if (auto* const scripts = scripts_of(c)) scripts->remove_library(c, c[2]);
}

void function_flush(call& c) {
  if (c.size() > 3) {
    c.fail_subcommand();
    return;
  }
  if (c.size() == 3 && !c.is(2, "SYNC") && !c.is(2, "ASYNC")) {
    c.fail("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
    return;
  }
  auto* const scripts = scripts_of(c);
  if (scripts == nullptr) return;
  scripts->remove_all_libraries();
  c.keys().changes().record();
  c.reply.ok();
}

void function_list(call& c) {
  std::string_view pattern = "*";
  bool has_pattern = false;
  bool with_texts = false;
  for (std::size_t at = 2; at < c.size(); ++at) {
    if (!with_texts && c.is(at, "WITHCODE")) {
      with_texts = true;
    } else if (!has_pattern && c.is(at, "LIBRARYNAME")) {
      if (++at == c.size()) {
        c.fail("ERR library name argument was not given");
        return;
      }
      pattern = c[at];
      has_pattern = true;
    } else {
      c.fail(fmt::format("ERR Unknown argument {}", c[at]));
      return;
    }
  }
  if (auto* const scripts = scripts_of(c)) scripts->list_libraries(c, pattern, with_texts);
}

// The function that is interrupted.
void reply_running(call& c) {
  const auto& interrupted = c.home().interrupted();
  if (!interrupted.is_on()) {
    c.reply.null();
    return;
  }
  const auto words = interrupted.script().words;
  c.reply.map(3);
  c.reply.bulk("name");
  c.reply.bulk(words[1]);
  c.reply.bulk("command");
  c.reply.array(words.size());
  for (const auto& each : words) c.reply.bulk(each);
  c.reply.bulk("duration_ms");
  c.reply.integer((c.keys().clock().steady_us() - interrupted.began_us()) / 1000);
}

void function_stats(call& c) {
  auto* const scripts = scripts_of(c);
  if (scripts == nullptr) return;
  if (c.home().interrupted().is_on() && !c.home().interrupted().is_of_function()) {
    c.fail(c.home().interrupted().refusal());
    return;
  }
  const auto figures = scripts->counted();
  c.reply.map(2);
  c.reply.bulk("running_script");
  reply_running(c);
  c.reply.bulk("engines");
  c.reply.map(1);
  c.reply.bulk("LUA");
  c.reply.map(2);
  c.reply.bulk("libraries_count");
  c.reply.integer(static_cast<std::int64_t>(figures.libraries));
  c.reply.bulk("functions_count");
  c.reply.integer(static_cast<std::int64_t>(figures.functions));
}

void function_dump(call& c) { c.reply.bulk(rdb::dump_functions(c.keys().functions().all())); }

std::optional<restore_policy> policy_of(call& c) {
  if (c.size() == 3 || c.is(3, "APPEND")) return restore_policy::append;
  if (c.is(3, "REPLACE")) return restore_policy::replace;
  if (c.is(3, "FLUSH")) return restore_policy::flush;
  c.fail("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
  return std::nullopt;
}

void function_restore(call& c) {
  if (c.size() > 4) {
    c.fail_subcommand();
    return;
  }
  const auto policy = policy_of(c);
  if (!policy) return;
  auto why = rdb::refusal::none;
  const auto texts = rdb::restore_functions(c[2], why);
  if (why != rdb::refusal::none) {
    c.fail(why == rdb::refusal::wrong_checksum ? "ERR DUMP payload version or checksum are wrong"
                                               : "ERR given type is not a function");
    return;
  }
  if (auto* const scripts = scripts_of(c)) scripts->restore_libraries(c, texts, *policy);
}

void function_kill(call& c) { kill_script(c, true); }

void function_help(call& c) {
  static constexpr std::array<std::string_view, 40> lines = {
      "FUNCTION <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "LOAD [REPLACE] <FUNCTION CODE>",
      "    Create a new library with the given library name and code.",
      "DELETE <LIBRARY NAME>",
      "    Delete the given library.",
      "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
      "    Return general information on all the libraries:",
      "    * Library name",
      "    * The engine used to run the Library",
      "    * Library description",
      "    * Functions list",
      "    * Library code (if WITHCODE is given)",
      "    It also possible to get only function that matches a pattern using LIBRARYNAME "
      "argument.",
      "STATS",
      "    Return information about the current function running:",
      "    * Function name",
      "    * Command used to run the function",
      "    * Duration in MS that the function is running",
      "    If no function is running, return nil",
      "    In addition, returns a list of available engines.",
      "KILL",
      "    Kill the current running function.",
      "FLUSH [ASYNC|SYNC]",
      "    Delete all the libraries.",
      "    When called without the optional mode argument, the behavior is determined by the",
      "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
      "    * ASYNC: Asynchronously flush the libraries.",
      "    * SYNC: Synchronously flush the libraries.",
      "DUMP",
      "    Return a serialized payload representing the current libraries, can be restored using "
      "FUNCTION RESTORE command",
      "RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]",
      "    Restore the libraries represented by the given payload, it is possible to give a "
      "restore "
      "policy to",
      "    control how to handle existing libraries (default APPEND):",
      "    * FLUSH: delete all existing libraries.",
      "    * APPEND: appends the restored libraries to the existing libraries. On collision, "
      "abort.",
      "    * REPLACE: appends the restored libraries to the existing libraries, On collision, "
      "replace "
      "the old",
      "      libraries with the new libraries (notice that even on this option there is a chance "
      "of "
      "failure",
      "      in case of functions name collision with another library).",
      "HELP",
      "    Prints this help."};
  c.reply_lines(lines);
}

// clang-format off
const command_row function_subcommands[] = {
    {"delete", 3, "write noscript", {0, 0, 0},
     "", "scripting", "7.0.0",
     "removes a library", function_delete},
    {"dump", 2, "noscript", {0, 0, 0},
     "", "scripting", "7.0.0",
     "returns all libraries in the format that FUNCTION RESTORE accepts", function_dump},
    {"flush", -2, "write noscript", {0, 0, 0},
     "", "scripting", "7.0.0",
     "removes all libraries", function_flush},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "scripting", "7.0.0",
     "shows the subcommands", function_help},
    {"kill", 2, "noscript allow_busy", {0, 0, 0},
     "", "scripting", "7.0.0",
     "ends the running function", function_kill},
    {"list", -2, "noscript", {0, 0, 0},
     "", "scripting", "7.0.0",
     "lists the libraries", function_list},
    {"load", -3, "write denyoom noscript", {0, 0, 0},
     "", "scripting", "7.0.0",
     "adds a library", function_load},
    {"restore", -3, "write denyoom noscript", {0, 0, 0},
     "", "scripting", "7.0.0",
     "adds libraries from the output of FUNCTION DUMP", function_restore},
    {"stats", 2, "noscript allow_busy", {0, 0, 0},
     "", "scripting", "7.0.0",
     "counts the libraries and their functions", function_stats},
};

const command_row function_rows[] = {
    {"fcall", -3, "noscript stale skip_monitor no_mandatory_keys movablekeys", {0, 0, 0},
     "RW access update 2 n0 1 1", "scripting", "7.0.0",
     "runs a function", fcall, {}, trait_runs_script},
    {"fcall_ro", -3, "noscript stale skip_monitor no_mandatory_keys readonly movablekeys",
     {0, 0, 0},
     "RO access 2 n0 1 1", "scripting", "7.0.0",
     "runs a function that only reads", fcall_ro},
    {"function", -2, "", {0, 0, 0},
     "", "", "7.0.0",
     "manages libraries of functions", nullptr, function_subcommands},
};
// clang-format on

}  // namespace

command_group function_commands() { return {"scripting", function_rows}; }

}  // namespace strata::runtime::cache
