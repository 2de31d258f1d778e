// strata add COMMAND, strata attach NAME
#include <fmt/format.h>

#include <filesystem>

#include "cli/runtimes/rows.hpp"
#include "process/start_time.hpp"
#include "text/number.hpp"

namespace strata::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view type = "program";

// The daemon splits the command again, as a shell would, and fills in what stands in braces.
std::string quoted(const std::string& word) {
  const bool is_plain = !word.empty() && word.find_first_of(" \t\n\"'\\{") == std::string::npos;
  if (is_plain) return word;
  std::string text = "'";
  for (const char letter : word) {
    text += letter == '\'' ? "'\\''" : letter == '{' ? "{{" : std::string(1, letter);
  }
  return text + "'";
}

// A path leads from the caller's folder, not from the daemon's; a bare name is found in PATH.
std::string whole_path(const std::string& program) {
  if (!program.contains('/')) return program;
  std::error_code unreadable;
  const auto path = fs::absolute(program, unreadable);
  return unreadable ? program : path.lexically_normal().string();
}

// With its start time, the id stands for no later process. A daemon on another machine has other
// processes.
std::string identity_of(const std::string& id, const daemon_address& daemon) {
  const auto number = text::number_in<pid_t>(id);
  if (!number || daemon.is_remote()) return id;
  const auto ticks = process::start_ticks(*number);
  return ticks ? fmt::format("{}@{}", id, *ticks) : id;
}

}  // namespace

outcome<int> run_add(const invocation& call) {
  auto words = call.words;
  words[0] = whole_path(words[0]);
  std::string command;
  for (const auto& each : words) command += (command.empty() ? "" : " ") + quoted(each);
  const auto name = call.text("name", fs::path(words[0]).stem().string());
  std::error_code unreadable;
  const auto folder = fs::current_path(unreadable);
  json options = {{"command", command}};
  if (!unreadable) options["folder"] = folder.string();
  if (call.flags.contains("group")) options["group"] = call.text("group");
  return create_runtime(call, std::string(type), name, options);
}

outcome<int> run_attach(const invocation& call) {
  json options = {{"attached", true}};
  if (call.words.size() > 1) {
    const auto port = text::number_in<std::uint16_t>(call.words[1]);
    if (!port || *port == 0) {
      return refuse(exit_misused,
                    fmt::format("'{}' is not a port: write strata attach {} 9000, or --pid PID",
                                call.words[1], call.words[0]));
    }
    options["port"] = *port;
  }
  if (call.flags.contains("pid")) options["pid"] = identity_of(call.text("pid"), call.daemon);
  if (call.is_set("managed")) options["managed"] = true;
  if (call.flags.contains("group")) options["group"] = call.text("group");
  auto started = call;
  started.flags["start"] = true;
  return create_runtime(started, std::string(type), call.words[0], options);
}

}  // namespace strata::cli
