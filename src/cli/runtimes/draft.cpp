#include "cli/runtimes/draft.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "options/own_folder.hpp"
#include "process/program.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::cli {

namespace {

constexpr std::string_view folder_name = "strata-edit";
constexpr std::string_view remedy = "set XDG_RUNTIME_DIR to a folder that you own";

// A signal handler may only read what already exists.
std::array<char, 4096> path_to_remove{};

extern "C" void remove_draft_and_leave(int signal) {
  ::unlink(path_to_remove.data());
  ::_exit(128 + signal);
}

void watch_signals(const std::string& path) {
  std::memcpy(path_to_remove.data(), path.c_str(), path.size() + 1);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) std::signal(each, remove_draft_and_leave);
}

/// The folder for drafts, in a folder that is verified to be our own.
outcome<std::string> open_folder(const options::path_environment& environment) {
  const std::string mended(remedy);
  auto path = environment.xdg_runtime_dir;
  // For another user, by sudo or su, the variable may still name the first user's folder.
  unique_fd parent;
  if (path.starts_with('/')) {
    if (auto opened = options::open_own_folder(path, mended)) parent = std::move(*opened);
  }
  if (!parent) {
    path = options::paths_for(environment).state_dir;
    if (path.empty()) {
      return refuse(exit_failed, "there is no folder for the file to edit; " + mended);
    }
    auto opened = options::open_own_folder(path, mended);
    if (!opened) return refuse(exit_failed, opened.error());
    parent = std::move(*opened);
  }
  path += "/" + std::string(folder_name);
  const auto own = options::open_own_folder_in(parent.get(), std::string(folder_name), path);
  if (!own) return refuse(exit_failed, own.error());
  return path;
}

outcome<> write_whole(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return refuse(exit_failed, system_error(errno, "write '" + path + "'"));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// For `sh -c`, with the file as `$1`: the variables may hold flags too.
std::string editor_command() {
  for (const auto* variable : {"VISUAL", "EDITOR"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != 0) return std::string(value) + " \"$1\"";
  }
  return R"(if command -v editor > /dev/null; then editor "$1"; else vi "$1"; fi)";
}

/// Runs it in the shell, with default signal handling: this process ignores some signals that an
/// editor may rely on.
result<process::ending> run_editor(const std::string& path) {
  static constexpr std::array signals = {SIGINT, SIGQUIT, SIGPIPE};
  auto started = process::start(
      {.words = {"/bin/sh", "-c", editor_command(), "sh", path}, .usual_signals = signals});
  if (!started) return std::unexpected(started.error());
  return started->wait();
}

}  // namespace

outcome<draft> draft::make(const options::path_environment& environment, std::string_view text) {
  const auto folder = open_folder(environment);
  if (!folder) return std::unexpected(folder.error());
  constexpr std::string_view suffix = ".json";
  auto path = fmt::format("{}/options-XXXXXX{}", *folder, suffix);
  if (path.size() >= path_to_remove.size()) {
    return refuse(exit_failed, fmt::format("the path '{}' is too long; {}", path, remedy));
  }
  const unique_fd file(::mkostemps(path.data(), suffix.size(), O_CLOEXEC));
  if (!file) return refuse(exit_failed, system_error(errno, "make the file '" + path + "'"));
  watch_signals(path);
  draft made(path);
  if (auto written = write_whole(file.get(), text, path); !written) {
    return std::unexpected(written.error());
  }
  return made;
}

draft::~draft() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

outcome<> draft::edit() const {
  // Ctrl-C belongs to the editor while it has the terminal.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  const auto ended = run_editor(path_);
  std::signal(SIGINT, remove_draft_and_leave);
  std::signal(SIGQUIT, SIG_DFL);
  if (!ended) return refuse(exit_failed, ended.error());
  if (ended->is_success()) return {};
  return refuse(exit_failed, fmt::format("the editor ended with {}, so nothing was changed; choose "
                                         "another editor with VISUAL or EDITOR",
                                         ended->text()));
}

outcome<std::string> draft::read() const {
  constexpr std::size_t longest = 16U << 20U;
  const std::string operation = "read '" + path_ + "'";
  // Editors replace the file by a new one: it could be anything.
  const unique_fd file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0) {
    return refuse(exit_failed, system_error(errno, operation));
  }
  if (!S_ISREG(found.st_mode)) {
    return refuse(exit_failed, "cannot " + operation + ": it is not a file");
  }
  std::string text;
  std::array<char, 65536> block;
  for (;;) {
    const auto got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(exit_failed, system_error(errno, operation));
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > longest) {
      return refuse(exit_failed, "cannot " + operation + ": it is longer than 16 MiB");
    }
  }
}

}  // namespace strata::cli
