// strata run FILE: applies a Lua file that describes runtimes.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/lua/rows.hpp"
#include "cli/lua/runtime_table.hpp"
#include "cli/lua/stack_file.hpp"
#include "cli/stack/report.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "loop/backends/backend.hpp"
#include "options/locations.hpp"
#include "script/machine.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using namespace std::chrono_literals;

namespace {

class file_observer final : public script::observer {
 public:
  explicit file_observer(bool prints_aside) : prints_aside_(prints_aside) {}
  /// The file's last error, with its traceback.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  void on_error(const std::string& text) override { trouble_ = text; }
  void on_print(const std::string& line) override {
    if (prints_aside_) {
      complain(line);
    } else {
      print(line + "\n");
    }
  }
  void on_run(const script::callback_run& /*ran*/) override {}

  bool prints_aside_;
  std::string trouble_;
};

}  // namespace

outcome<int> run_lua_file(const invocation& call) {
  const auto& file = call.words[0];
  auto loop = loop::make_loop(loop::backend_kind::epoll);
  if (!loop) return refuse(exit_failed, loop.error());
  stack_file stack(call, std::filesystem::absolute(file).parent_path().string());
  file_observer observer(call.as_json || call.quiet);
  const script::settings settings{
      .most_time = 2s, .libraries = options::lua_folders_for(options::current_path_environment())};
  auto machine = script::machine::make(**loop, settings, observer);
  if (!machine) return refuse(exit_failed, machine.error());
  (*machine)->add({"strata", stack_file::functions(), {}}, &stack);
  const auto loaded = (*machine)->load(file, {});
  if (loaded) deploy_table(**machine);
  report_deeds(call, stack.deployed());
  if (loaded && !stack.was_called() && !call.quiet) {
    complain(
        fmt::format("'{}' describes no runtime: it calls no function such as "
                    "strata.create(TYPE, NAME, OPTIONS), and has no list 'runtimes'",
                    file));
  }
  const auto& trouble = observer.trouble();
  if (loaded && trouble.empty()) return exit_done;
  const auto& refused = stack.refused();
  // A mistake in the file, found after earlier calls took effect, is not a misuse of the command
  // line.
  const bool is_refused =
      refused && refused->exit != exit_misused && trouble.contains(refused->message);
  complain_in_lines(trouble.empty() ? describe(loaded.error()) : trouble);
  return is_refused ? refused->exit : exit_failed;
}

}  // namespace strata::cli
