// What remote_shell's parts share: a libssh session, and errors in its words.
#pragma once

#include <memory>
#include <string>

#include "measure/remote/remote_shell.hpp"
#include "measure/remote/remote_shell_library.hpp"

namespace strata::measure {

/// Calls libssh's function that frees what it made.
template <auto Free>
struct ssh_deleter {
  template <class Made>
  void operator()(Made* made) const {
    (libssh().*Free)(made);
  }
};
template <class Made, auto Free>
using ssh_owned = std::unique_ptr<Made, ssh_deleter<Free>>;

using ssh_key_owned = ssh_owned<ssh_key_struct, &ssh_library::ssh_key_free>;
using ssh_text_owned = ssh_owned<char, &ssh_library::ssh_string_free_char>;

class ssh_connection {
 public:
  ssh_connection(remote_shell_options options, std::string name);
  ssh_connection(const ssh_connection&) = delete;
  ssh_connection& operator=(const ssh_connection&) = delete;
  ~ssh_connection();

  [[nodiscard]] result<void> reach();
  /// Sees that the host is the one that known_hosts names.
  [[nodiscard]] result<void> trust();
  [[nodiscard]] result<void> log_in();

  [[nodiscard]] ssh_session session() const { return session_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Of the last call.
  [[nodiscard]] std::string reason() const { return libssh().ssh_get_error(session_.get()); }

 private:
  [[nodiscard]] result<std::string> fingerprint() const;
  [[nodiscard]] result<void> learn_host_key(const std::string& print) const;
  [[nodiscard]] result<ssh_key_owned> read_key();
  static int give_passphrase(const char* prompt, char* bytes, std::size_t room, int echo,
                             int verify, void* self);

  remote_shell_options options_;
  std::string name_;
  ssh_owned<ssh_session_struct, &ssh_library::ssh_free> session_;
  ssh_callbacks_struct callbacks_{};
  bool was_asked_ = false;  ///< for a passphrase
};

}  // namespace strata::measure
