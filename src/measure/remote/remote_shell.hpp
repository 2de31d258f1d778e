// A shell on another machine, by ssh (through libssh, which only remote_shell* uses).
//
// The machine's host key must match known_hosts, and the user must have a key: there are no
// passwords here. Commands run under `sh`, whatever the user's own shell is and prints at its
// start. A connection belongs to one thread at a time.
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
  std::string user;         ///< empty: by ~/.ssh/config, or this user
  std::string host;         ///< or its alias in ~/.ssh/config
  std::uint16_t port = 0;   ///< 0: by ~/.ssh/config, or 22
  std::string key_file;     ///< the private key; empty: those of the agent and of ~/.ssh
  std::string known_hosts;  ///< empty: the user's own file
  /// Accepts an unknown host key and records it; never a changed key.
  bool accept_new_host_key = false;
  /// For keys with a passphrase; nullopt if it is not available.
  std::function<std::optional<std::string>(const std::string& prompt)> ask_passphrase;
};

/// A command's output and exit code.
struct remote_answer {
  int exit_code = 0;
  std::string output;
  std::string errors;

  /// Returns `errors` on one line; the exit code if there are none.
  [[nodiscard]] std::string complaint() const;
};

/// A running command: its standard input and output. The destructor ends its input, which asks it
/// to end, and waits for its end for a few seconds. The command also ends when this process dies or
/// the connection breaks.
class remote_command final : public control_stream {
 public:
  explicit remote_command(std::unique_ptr<ssh_command> command);
  ~remote_command() override;

  result<void> write(std::string_view bytes) override;
  /// Errors: also timed_out if nothing arrives for half a minute.
  result<std::size_t> read(std::span<char> bytes) override;
  /// Returns a line without its end; nullopt if the command ends before it.
  [[nodiscard]] result<std::optional<std::string>> read_line();
  /// Ends the command's input and waits for its end. `output` is the unread rest.
  [[nodiscard]] result<remote_answer> finish();

 private:
  std::unique_ptr<ssh_command> command_;
};

class remote_shell {
 public:
  /// Errors: not_found and connection_closed (no such host, no server there), permission_denied
  /// (the host's key or the user's is not the right one), each with a remedy.
  [[nodiscard]] static result<remote_shell> connect(const remote_shell_options& options);
  remote_shell(remote_shell&&) noexcept;
  remote_shell& operator=(remote_shell&&) = delete;
  ~remote_shell();

  /// Runs a script of `sh` to its end, with `input` as its standard input.
  [[nodiscard]] result<remote_answer> run(std::string_view script, std::string_view input = {});
  [[nodiscard]] result<std::unique_ptr<remote_command>> start(std::string_view script);
  /// Copies a file, which only its user may then read, write and run. No file of that name may
  /// exist.
  [[nodiscard]] result<void> put(const std::string& local, const std::string& remote);

  /// Returns `user@host` as given, for messages.
  [[nodiscard]] const std::string& name() const;

 private:
  explicit remote_shell(std::shared_ptr<ssh_connection> connection);

  std::shared_ptr<ssh_connection> over_;
};

/// Returns `text` quoted as one word of `sh`, whatever it contains.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace strata::measure
