// A shell on another machine, by ssh (libssh, which only remote_shell* knows).
//
// The machine must prove to be the one that known_hosts names, and the user must have a key: there
// are no passwords here. Commands run under `sh`, whatever the user's own shell is and says when it
// starts. All of a connection belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "measure/node/control.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

class ssh_connection;
class ssh_command;

struct remote_shell_options {
  std::string user;         ///< empty: as ~/.ssh/config says, or this user
  std::string host;         ///< or its alias in ~/.ssh/config
  std::uint16_t port = 0;   ///< 0: as ~/.ssh/config says, or 22
  std::string key_file;     ///< the private key; empty: those of the agent and of ~/.ssh
  std::string known_hosts;  ///< empty: the user's own file
  /// Takes a host key that nobody knows yet, and writes it down; never one that has changed.
  bool accept_new_host_key = false;
  /// For keys that have one; nullopt when it cannot be had.
  std::function<std::optional<std::string>(const std::string& prompt)> ask_passphrase;
};

/// What a command said, and how it ended.
struct remote_answer {
  int exit_code = 0;
  std::string output;
  std::string errors;

  /// `errors` in one line; the exit code when there are none.
  [[nodiscard]] std::string complaint() const;
};

/// A command that goes on: its standard input and output. It is asked to end, by the end of its
/// input, when this object goes, which waits for that a few seconds. It ends as well when this
/// process dies or the connection breaks.
class remote_command final : public control_stream {
 public:
  explicit remote_command(std::unique_ptr<ssh_command> command);
  ~remote_command() override;

  result<void> write(std::string_view bytes) override;
  /// Errors: also timed_out, when nothing comes for half a minute.
  result<std::size_t> read(std::span<char> bytes) override;
  /// Without the line's end; nullopt when the command ends before it.
  [[nodiscard]] result<std::optional<std::string>> read_line();
  /// Ends its input and waits for its end. `output` is what had not been read.
  [[nodiscard]] result<remote_answer> finish();

 private:
  std::unique_ptr<ssh_command> command_;
};

class remote_shell {
 public:
  /// Errors: not_found and connection_closed (no such host, nobody listens), permission_denied (the
  /// host's key or the user's is not the right one), each saying what to do.
  [[nodiscard]] static result<remote_shell> connect(const remote_shell_options& options);
  remote_shell(remote_shell&&) noexcept;
  remote_shell& operator=(remote_shell&&) = delete;
  ~remote_shell();

  /// Runs a script of `sh` to its end, with `input` as its standard input.
  [[nodiscard]] result<remote_answer> run(std::string_view script, std::string_view input = {});
  [[nodiscard]] result<std::unique_ptr<remote_command>> start(std::string_view script);
  /// Copies a file, which its user alone may read, write and run there. Nothing must stand there.
  [[nodiscard]] result<void> put(const std::string& local, const std::string& remote);

  /// For messages: `user@host`, as it was given.
  [[nodiscard]] const std::string& name() const;

 private:
  explicit remote_shell(std::shared_ptr<ssh_connection> connection);

  std::shared_ptr<ssh_connection> over_;
};

/// `text` as one word of `sh`, whatever is in it.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace strata::measure
