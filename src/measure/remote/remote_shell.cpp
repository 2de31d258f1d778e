#include "measure/remote/remote_shell.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <utility>
#include <vector>

#include "measure/remote/remote_shell_connection.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::measure {

namespace {

constexpr int answer_limit_ms = 30'000;
constexpr int end_limit_ms = 5'000;
// Marks the beginning of the output. Anything before it is from the user's own shell, which may
// greet even programs.
constexpr std::string_view first_line = "strata begins here";

}  // namespace

// A channel on which a command runs. The connection lives as long as the channel.
class ssh_command {
 public:
  static result<std::unique_ptr<ssh_command>> start(std::shared_ptr<ssh_connection> connection,
                                                    std::string_view script) {
    const auto wrong = [&] {
      return failure(errc::connection_closed, "run a command on " + connection->name(),
                     connection->reason());
    };
    auto made = std::make_unique<ssh_command>(connection);
    auto* const channel = made->channel_.get();
    if (channel == nullptr || libssh().ssh_channel_open_session(channel) != SSH_OK) return wrong();
    const auto whole = "exec sh -c " +
                       shell_word("echo '" + std::string(first_line) + "'; " + std::string(script));
    if (libssh().ssh_channel_request_exec(channel, whole.c_str()) != SSH_OK) return wrong();
    return made;
  }
  explicit ssh_command(std::shared_ptr<ssh_connection> connection)
      : over_(std::move(connection)), channel_(libssh().ssh_channel_new(over_->session())) {
    ssh_callbacks_init(&callbacks_);
    callbacks_.userdata = this;
    callbacks_.channel_eof_function = note_end;
    callbacks_.channel_close_function = note_end;
    if (channel_) libssh().ssh_set_channel_callbacks(channel_.get(), &callbacks_);
  }
  ssh_command(const ssh_command&) = delete;
  ssh_command& operator=(const ssh_command&) = delete;
  ~ssh_command() {
    end_input();
    for (std::array<char, 4096> piece;;) {
      const auto got = read(piece, false, end_limit_ms);
      if (!got || *got == 0) break;
    }
    // libssh keeps a freed channel until the server has closed it too, and would call the
    // callbacks.
    if (channel_) libssh().ssh_remove_channel_callbacks(channel_.get(), &callbacks_);
  }

  result<void> write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), 1U << 20U));
      const int taken = libssh().ssh_channel_write(channel_.get(), bytes.data(), size);
      if (taken <= 0) {
        return failure(errc::connection_closed, "write to " + over_->name(), over_->reason());
      }
      bytes.remove_prefix(static_cast<std::size_t>(taken));
    }
    return {};
  }
  void end_input() {
    if (!std::exchange(input_ended_, true)) libssh().ssh_channel_send_eof(channel_.get());
  }

  result<std::size_t> read(std::span<char> bytes, bool from_errors, int limit_ms) {
    const int got = libssh().ssh_channel_read_timeout(channel_.get(), bytes.data(),
                                                      static_cast<std::uint32_t>(bytes.size()),
                                                      from_errors, limit_ms);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got != SSH_ERROR && has_ended_) return 0;
    if (got == SSH_ERROR || libssh().ssh_is_connected(over_->session()) == 0) {
      return failure(errc::connection_closed, "read from " + over_->name(), over_->reason());
    }
    return failure(errc::timed_out, "read from " + over_->name(),
                   "it has sent nothing for " + std::to_string(limit_ms / 1000) + " s");
  }
  // Returns the rest of one of its outputs.
  result<std::string> read_all(bool from_errors) {
    std::string text;
    for (std::array<char, 4096> piece;;) {
      const auto got = read(piece, from_errors, answer_limit_ms);
      if (!got) return std::unexpected(got.error());
      if (*got == 0) return text;
      text.append(piece.data(), *got);
    }
  }

  [[nodiscard]] const ssh_connection& over() const { return *over_; }
  // -1 if a signal ended the command.
  [[nodiscard]] int exit_code() const {
    return libssh().ssh_channel_get_exit_status(channel_.get());
  }

 private:
  static void note_end(ssh_session, ssh_channel, void* self) {
    static_cast<ssh_command*>(self)->has_ended_ = true;
  }

  std::shared_ptr<ssh_connection> over_;
  ssh_channel_callbacks_struct callbacks_{};
  ssh_owned<ssh_channel_struct, &ssh_library::ssh_channel_free> channel_;
  bool input_ended_ = false;
  bool has_ended_ = false;  // the output has ended; libssh may still hold some of it
};

std::string remote_answer::complaint() const {
  std::string all;
  std::istringstream in(errors);
  for (std::string line; std::getline(in, line);) {
    while (line.ends_with('\r') || line.ends_with('.')) line.pop_back();
    if (!line.empty()) all += (all.empty() ? "" : "; ") + line;
  }
  return all.empty() ? "it ended with exit code " + std::to_string(exit_code) : all;
}

remote_command::remote_command(std::unique_ptr<ssh_command> command)
    : command_(std::move(command)) {}
remote_command::~remote_command() = default;

result<void> remote_command::write(std::string_view bytes) { return command_->write(bytes); }

result<std::size_t> remote_command::read(std::span<char> bytes) {
  return command_->read(bytes, false, answer_limit_ms);
}

result<std::optional<std::string>> remote_command::read_line() {
  std::string line;
  for (char letter = 0;;) {
    const auto got = read({&letter, 1});
    if (!got) return std::unexpected(got.error());
    if (*got == 0) return std::nullopt;
    if (letter == '\n') return line;
    line += letter;
  }
}

result<remote_answer> remote_command::finish() {
  command_->end_input();
  auto output = command_->read_all(false);
  if (!output) return std::unexpected(output.error());
  auto errors = command_->read_all(true);
  if (!errors) return std::unexpected(errors.error());
  return remote_answer{.exit_code = command_->exit_code(),
                       .output = std::move(*output),
                       .errors = std::move(*errors)};
}

remote_shell::remote_shell(std::shared_ptr<ssh_connection> connection)
    : over_(std::move(connection)) {}
remote_shell::remote_shell(remote_shell&&) noexcept = default;
remote_shell::~remote_shell() = default;

const std::string& remote_shell::name() const { return over_->name(); }

result<remote_shell> remote_shell::connect(const remote_shell_options& options) {
  auto name = options.user.empty() ? options.host : options.user + '@' + options.host;
  if (auto loaded = load_libssh(); !loaded) return std::unexpected(loaded.error());
  const auto made = std::make_shared<ssh_connection>(options, std::move(name));
  if (auto done = made->reach(); !done) return std::unexpected(done.error());
  if (auto done = made->trust(); !done) return std::unexpected(done.error());
  if (auto done = made->log_in(); !done) return std::unexpected(done.error());
  return remote_shell(made);
}

result<std::unique_ptr<remote_command>> remote_shell::start(std::string_view script) {
  auto made = ssh_command::start(over_, script);
  if (!made) return std::unexpected(made.error());
  auto command = std::make_unique<remote_command>(std::move(*made));
  for (std::string said;;) {
    auto line = command->read_line();
    if (!line) return std::unexpected(line.error());
    if (!*line) {
      const auto ended = command->finish();
      return failure(errc::permission_denied, "run commands on " + name(),
                     said.empty() && ended ? ended->complaint() : said,
                     "name a user with a shell there (--host USER@HOST)");
    }
    if ((*line)->ends_with(first_line)) return command;
    said = std::move(**line);
  }
}

result<remote_answer> remote_shell::run(std::string_view script, std::string_view input) {
  auto running = start(script);
  if (!running) return std::unexpected(running.error());
  if (auto written = (*running)->write(input); !written) return std::unexpected(written.error());
  return (*running)->finish();
}

result<void> remote_shell::put(const std::string& local, const std::string& remote) {
  const auto where = remote + " on " + name();
  const unique_fd from(::open(local.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from) return system_failure(errno, "read " + local);
  const ssh_owned<sftp_session_struct, &ssh_library::sftp_free> sftp(
      libssh().sftp_new(over_->session()));
  if (!sftp || libssh().sftp_init(sftp.get()) != SSH_OK) {
    return failure(errc::not_supported, "copy files to " + name(), over_->reason(),
                   "add 'Subsystem sftp internal-sftp' to its sshd_config");
  }
  ssh_owned<sftp_file_struct, &ssh_library::sftp_close> into(
      libssh().sftp_open(sftp.get(), remote.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0700));
  if (!into) return failure(errc::system, "make " + where, over_->reason());
  // A size that every server accepts at once.
  std::vector<char> piece(std::size_t{32} << 10U);
  for (;;) {
    const auto got = ::read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(errno, "read " + local);
    if (got == 0) break;
    if (libssh().sftp_write(into.get(), piece.data(), static_cast<std::size_t>(got)) != got) {
      return failure(errc::system, "write " + where, over_->reason(),
                     "free some space, or name another folder with --remote-dir");
    }
  }
  if (libssh().sftp_close(into.release()) == SSH_OK) return {};
  return failure(errc::system, "write " + where, over_->reason());
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      word += "'\\''";
    } else {
      word += letter;
    }
  }
  return word + '\'';
}

}  // namespace strata::measure
