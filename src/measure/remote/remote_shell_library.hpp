// libssh, which is loaded only when a machine is first to be reached: with the eight libraries that
// it needs, it would add a fifth to the start time of every other verb.
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <libssh/sftp.h>

#include "strata/base/result.hpp"

namespace strata::measure {

// The functions of libssh that are used.
#define STRATA_SSH_FUNCTIONS(use)                                                                  \
  use(ssh_channel_free) use(ssh_channel_get_exit_status) use(ssh_channel_new) use(                 \
      ssh_channel_open_session) use(ssh_channel_read_timeout) use(ssh_channel_request_exec)        \
      use(ssh_channel_send_eof) use(ssh_channel_write) use(ssh_clean_pubkey_hash) use(ssh_connect) \
          use(ssh_disconnect) use(ssh_free) use(ssh_get_error) use(ssh_get_fingerprint_hash)       \
              use(ssh_get_publickey_hash) use(ssh_get_server_publickey) use(ssh_is_connected)      \
                  use(ssh_key_free) use(ssh_key_type) use(ssh_key_type_to_char) use(ssh_new)       \
                      use(ssh_options_get) use(ssh_options_get_port) use(ssh_options_set)          \
                          use(ssh_pki_import_privkey_file) use(ssh_remove_channel_callbacks)       \
                              use(ssh_session_is_known_server) use(ssh_session_update_known_hosts) \
                                  use(ssh_set_callbacks) use(ssh_set_channel_callbacks)            \
                                      use(ssh_string_free_char) use(ssh_userauth_publickey)        \
                                          use(ssh_userauth_publickey_auto) use(sftp_close)         \
                                              use(sftp_free) use(sftp_init) use(sftp_new)          \
                                                  use(sftp_open) use(sftp_write)

/// The functions, by their names.
struct ssh_library {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name is declared.
#define STRATA_SSH_MEMBER(name) decltype(&::name) name = nullptr;
  STRATA_SSH_FUNCTIONS(STRATA_SSH_MEMBER)
#undef STRATA_SSH_MEMBER
};

/// Loads the library. Errors: not_found, with the package to install.
[[nodiscard]] result<void> load_libssh();
/// Returns the library, once it is loaded.
[[nodiscard]] const ssh_library& libssh();

}  // namespace strata::measure
