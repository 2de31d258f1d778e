// The plain C contender: a program of its own, bench/plain_packet.c, which says "ready" when its
// socket is open and one line of JSON at its end. It stops when its standard input is closed.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "measure/node/contender.hpp"
#include "measure/node/pipe.hpp"
#include "measure/node/running_part.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/json_text.hpp"

namespace strata::measure {

namespace {

class plain_part final : public running_part {
 public:
  plain_part(pid_t child, unique_fd to_it, unique_fd from_it)
      : child_(child), to_it_(std::move(to_it)), from_it_(std::move(from_it)) {}
  ~plain_part() override {
    if (child_ == 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  [[nodiscard]] std::uint16_t port() const override { return 0; }

  result<void> await_ready() {
    const auto line = read_line();
    if (line == "ready") return {};
    return failure(errc::system, "start the plain C program", line);
  }
  result<end_result> finish() override {
    to_it_.reset();
    const auto line = read_line();
    ::waitpid(std::exchange(child_, 0), nullptr, 0);
    return end_result_from(text::parse_json(line, "read the result").value_or(nullptr));
  }

 private:
  std::string read_line() {
    std::string line;
    for (char letter = 0;;) {
      const auto got = ::read(from_it_.get(), &letter, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0 || letter == '\n') return line;
      line += letter;
    }
  }

  pid_t child_;
  unique_fd to_it_;
  unique_fd from_it_;
};

}  // namespace

std::string plain_program() { return contender_path("strata-plain-packet"); }

result<std::unique_ptr<running_part>> start_plain_part(const order& order) {
  const auto program = plain_program();
  if (program.empty()) {
    return failure(errc::not_found, "run the plain C program",
                   "it is neither beside this one nor in libexec/strata",
                   "build the target strata-plain-packet");
  }
  auto in = make_pipe();
  auto out = make_pipe();
  if (!in) return std::unexpected(in.error());
  if (!out) return std::unexpected(out.error());
  std::array<std::string, 10> words{program,
                                    order.role,
                                    order.path == "plain_ring" ? "ring" : "socket",
                                    order.busy ? "busy" : "wait",
                                    order.interface,
                                    order.peer_mac,
                                    std::to_string(order.payload),
                                    std::to_string(order.seconds),
                                    std::to_string(order.buffer),
                                    std::to_string(order.run)};
  std::array<char*, words.size() + 1> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in->read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out->write.get(), STDOUT_FILENO);
  pid_t child = 0;
  const int code =
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return system_failure(code, "run " + program);
  auto made = std::make_unique<plain_part>(child, std::move(in->write), std::move(out->read));
  out->write.reset();
  if (auto ready = made->await_ready(); !ready) return std::unexpected(ready.error());
  return made;
}

}  // namespace strata::measure
