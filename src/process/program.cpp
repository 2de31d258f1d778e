#include "process/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>

#include "strata/base/unique_fd.hpp"

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
  /// A leader of a session that has no terminal gets the first one that it opens.
  void use_terminal(const std::string& path) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, path.c_str(), O_RDWR, 0);
    put(STDIN_FILENO, STDOUT_FILENO);
    put(STDIN_FILENO, STDERR_FILENO);
  }
  /// Resets these signals to their defaults, and blocks none.
  void reset(std::span<const int> signals) {
    sigset_t usual{};
    ::sigemptyset(&usual);
    ::posix_spawnattr_setsigmask(&attributes_, &usual);
    for (const int each : signals) ::sigaddset(&usual, each);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    flags_ |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  }
  void begin_session() { flags_ |= POSIX_SPAWN_SETSID; }
  void enter(const std::string& folder) {
    if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() {
    ::posix_spawnattr_setflags(&attributes_, flags_);
    return &attributes_;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  short flags_ = 0;
};

constexpr int first_place = STDERR_FILENO + 1;

// Copies of those that lie where another one is put before them; the copies replace them.
std::vector<unique_fd> move_above(std::vector<int>& descriptors) {
  const int end = first_place + static_cast<int>(descriptors.size());
  std::vector<unique_fd> copies;
  for (int& each : descriptors) {
    if (each < 0 || each >= end) continue;
    each = copies.emplace_back(::fcntl(each, F_DUPFD_CLOEXEC, end)).get();
  }
  return copies;
}

// The last value of a name counts; a name without one is left out.
std::vector<char*> environment_with(std::vector<std::string>& more) {
  const auto name_of = [](std::string_view text) { return text.substr(0, text.find('=')); };
  const auto is_set_from = [&](std::string_view name, std::size_t position) {
    return std::ranges::any_of(more.begin() + static_cast<std::ptrdiff_t>(position), more.end(),
                               [&](const std::string& each) { return name_of(each) == name; });
  };
  std::vector<char*> all;
  for (char** each = ::environ; *each != nullptr; ++each) {
    if (!is_set_from(name_of(*each), 0)) all.push_back(*each);
  }
  for (std::size_t position = 0; position < more.size(); ++position) {
    auto& each = more[position];
    if (each.contains('=') && !is_set_from(name_of(each), position + 1)) all.push_back(each.data());
  }
  all.push_back(nullptr);
  return all;
}

}  // namespace

result<child> start(program program) {
  std::vector<char*> arguments;
  arguments.reserve(program.words.size() + 1);
  for (auto& word : program.words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  preparation prepared;
  prepared.put(program.input, STDIN_FILENO);
  prepared.put(program.output, STDOUT_FILENO);
  prepared.put(program.error, STDERR_FILENO);
  if (!program.terminal.empty()) prepared.use_terminal(program.terminal);
  const auto moved = move_above(program.handed_over);
  for (int place = first_place; const int each : program.handed_over) prepared.put(each, place++);
  prepared.enter(program.folder);
  if (program.is_leader) prepared.begin_session();
  prepared.reset(program.usual_signals);
  const auto environment = environment_with(program.environment);
  pid_t id = 0;
  const char* const file = program.file.empty() ? arguments[0] : program.file.c_str();
  const int code = ::posix_spawnp(&id, file, prepared.actions(), prepared.attributes(),
                                  arguments.data(), environment.data());
  if (code != 0) return system_failure(code, "run '" + program.words[0] + "'");
  return child(id);
}

}  // namespace strata::process
