#include "process/program.hpp"

#include <spawn.h>
#include <unistd.h>

#include <csignal>

namespace strata::process {

namespace {

/// What the kernel does between the copy of this process and the start of the program.
class preparation {
 public:
  preparation() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  preparation(const preparation&) = delete;
  preparation& operator=(const preparation&) = delete;
  ~preparation() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void put(int descriptor, int place) {
    if (descriptor >= 0) ::posix_spawn_file_actions_adddup2(&actions_, descriptor, place);
  }
  void reset(std::span<const int> signals) {
    if (signals.empty()) return;
    sigset_t usual{};
    ::sigemptyset(&usual);
    for (const int each : signals) ::sigaddset(&usual, each);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

result<child> start(program program) {
  std::vector<char*> arguments;
  arguments.reserve(program.words.size() + 1);
  for (auto& word : program.words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  preparation prepared;
  prepared.put(program.input, STDIN_FILENO);
  prepared.put(program.output, STDOUT_FILENO);
  prepared.reset(program.usual_signals);
  pid_t id = 0;
  const int code = ::posix_spawnp(&id, arguments[0], prepared.actions(), prepared.attributes(),
                                  arguments.data(), ::environ);
  if (code != 0) return system_failure(code, "run '" + program.words[0] + "'");
  return child(id);
}

}  // namespace strata::process
