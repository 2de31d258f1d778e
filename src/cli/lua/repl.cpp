// strata lua repl NAME: runs lines of Lua in a running script.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "cli/daemon_client/control_client.hpp"
#include "cli/lua/rows.hpp"
#include "cli/terminal/line_editor.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "options/locations.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

class lua_dialogue {
 public:
  explicit lua_dialogue(const invocation& call) : call_(call), client_(call.daemon) {}

  /// Runs a line, appended to earlier incomplete ones. Errors: those of the daemon.
  outcome<> evaluate(const std::string& line) {
    begun_ += (begun_.empty() ? "" : "\n") + line;
    if (begun_.find_first_not_of(" \t\r\n") == std::string::npos) {
      begun_.clear();
      return {};
    }
    last_ = json();
    auto given = client_.ask(call_.words[0], "eval-lua", begun_);
    if (!given) {
      begun_.clear();
      return std::unexpected(given.error());
    }
    last_ = std::move(*given);
    if (is_incomplete()) return {};
    begun_.clear();
    show();
    return {};
  }
  /// The input ends while a statement is incomplete.
  void finish() {
    if (!begun_.empty()) show();
    begun_.clear();
  }
  [[nodiscard]] bool is_incomplete() const {
    return last_.is_object() && last_.value("incomplete", false);
  }
  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  void show() {
    if (last_.contains("error")) has_failed_ = true;
    if (call_.as_json) return print(text::escaped_for_json(last_.dump()) + "\n");
    for (const auto* const key : {"output", "values"}) {
      for (const auto& each : last_.value(key, json::array())) print(shown(each) + "\n");
    }
    if (last_.contains("error")) complain_in_lines(last_.at("error").get<std::string>());
  }
  // Removes everything that a terminal would interpret, except line ends.
  static std::string shown(const json& text) {
    auto whole = text.get<std::string>();
    if (!has_screen()) return whole;
    std::string lines;
    text::line_splitter splitter;
    auto all = splitter.feed(whole);
    for (auto& last : splitter.finish()) all.push_back(std::move(last));
    for (const auto& each : all) lines += (lines.empty() ? "" : "\n") + text::printable(each);
    return lines;
  }

  const invocation& call_;
  control_client client_;
  std::string begun_;
  json last_;
  bool has_failed_ = false;
};

outcome<int> talk_at_terminal(lua_dialogue& talk, const std::string& name) {
  const auto folder = options::paths_for(options::current_path_environment()).state_dir;
  line_editor editor(folder.empty() ? folder : folder + "/lua_history");
  print(fmt::format("{}: lines run in its script; Ctrl-D leaves, and it goes on.\n",
                    text::printable(name)));
  for (;;) {
    const auto line = editor.read(talk.is_incomplete() ? ">> " : name + "> ", {});
    if (!line) {
      print("\n");
      talk.finish();
      return exit_done;
    }
    if (!line->empty()) editor.remember(*line);
    if (auto said = talk.evaluate(*line); !said) {
      // A line that takes long, or a runtime that is restarted, does not end the session.
      if (said.error().exit != exit_failed) return std::unexpected(said.error());
      complain(said.error().message);
    }
  }
}

outcome<int> read_lines(lua_dialogue& talk) {
  text::line_splitter splitter;
  std::array<char, 65536> buffer;
  for (bool has_more = true; has_more;) {
    const auto got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(exit_failed, system_error(errno, "read standard input"));
    has_more = got != 0;
    const auto lines = has_more ? splitter.feed({buffer.data(), static_cast<std::size_t>(got)})
                                : splitter.finish();
    for (const auto& line : lines) {
      if (auto said = talk.evaluate(line); !said) return std::unexpected(said.error());
    }
  }
  talk.finish();
  return talk.has_failed() ? exit_failed : exit_done;
}

}  // namespace

outcome<int> run_lua_repl(const invocation& call) {
  lua_dialogue talk(call);
  if (call.flags.contains("eval")) {
    for (const auto& line : call.flags.at("eval")) {
      if (auto said = talk.evaluate(line.get<std::string>()); !said) {
        return std::unexpected(said.error());
      }
      talk.finish();
    }
    return talk.has_failed() ? exit_failed : exit_done;
  }
  const bool is_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  return is_terminal ? talk_at_terminal(talk, call.words[0]) : read_lines(talk);
}

}  // namespace strata::cli
