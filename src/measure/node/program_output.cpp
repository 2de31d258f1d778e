#include "measure/node/program_output.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "measure/node/pipe.hpp"

namespace strata::measure {

namespace {

result<pid_t> start(std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = 0;
  const int code =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return system_failure(code, "run " + words[0]);
  return child;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const auto got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

result<std::string> output_of(std::vector<std::string> words) {
  auto out = make_pipe();
  if (!out) return std::unexpected(out.error());
  const auto child = start(words, out->write.get());
  if (!child) return std::unexpected(child.error());
  out->write.reset();
  auto text = read_all(out->read.get());
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  return failure(errc::connection_closed, "run " + words[0],
                 WIFEXITED(status)
                     ? "it ended with exit code " + std::to_string(WEXITSTATUS(status))
                     : "it was ended by signal " + std::to_string(WTERMSIG(status)));
}

}  // namespace strata::measure
