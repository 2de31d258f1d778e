// The common part of remote_shell: a libssh session, and its errors in libssh's words.
#pragma once

#include <memory>
#include <string>

#include "measure/remote/remote_shell.hpp"
#include "measure/remote/remote_shell_library.hpp"

namespace strata::measure {

/// Calls the libssh function that frees an object.
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
  /// Verifies the host key against known_hosts.
  [[nodiscard]] result<void> trust();
  [[nodiscard]] result<void> log_in();

  [[nodiscard]] ssh_session session() const { return session_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns the error of the last call.
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
  bool was_asked_ = false;  ///< a passphrase was requested
};

}  // namespace strata::measure
