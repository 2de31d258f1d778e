#include "measure/remote/remote_shell_connection.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace strata::measure {

namespace {

constexpr long reach_limit_s = 10;

}  // namespace

ssh_connection::ssh_connection(remote_shell_options options, std::string name)
    : options_(std::move(options)), name_(std::move(name)), session_(libssh().ssh_new()) {
  ssh_callbacks_init(&callbacks_);
  callbacks_.userdata = this;
  callbacks_.auth_function = give_passphrase;
  libssh().ssh_set_callbacks(session_.get(), &callbacks_);
}

ssh_connection::~ssh_connection() {
  if (session_) libssh().ssh_disconnect(session_.get());
}

result<void> ssh_connection::reach() {
  const auto set = [&](ssh_options_e which, const void* value) {
    return libssh().ssh_options_set(session_.get(), which, value) == SSH_OK;
  };
  const unsigned port = options_.port;
  bool good =
      set(SSH_OPTIONS_HOST, options_.host.c_str()) && set(SSH_OPTIONS_TIMEOUT, &reach_limit_s);
  if (!options_.user.empty()) good = good && set(SSH_OPTIONS_USER, options_.user.c_str());
  if (port != 0) good = good && set(SSH_OPTIONS_PORT, &port);
  if (!options_.known_hosts.empty()) {
    good = good && set(SSH_OPTIONS_KNOWNHOSTS, options_.known_hosts.c_str());
  }
  if (!good) return failure(errc::invalid_argument, "connect to " + name_, reason());
  if (libssh().ssh_connect(session_.get()) == SSH_OK) return {};
  return failure(errc::connection_closed, "connect to " + name_, reason(),
                 "check that the host is up and sshd listens there (--host [USER@]HOST[:PORT])");
}

result<std::string> ssh_connection::fingerprint() const {
  ssh_key key = nullptr;
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (libssh().ssh_get_server_publickey(session_.get(), &key) != SSH_OK) {
    return failure(errc::permission_denied, "read the host key of " + name_, reason());
  }
  const ssh_key_owned owned(key);
  if (libssh().ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != SSH_OK) {
    return failure(errc::permission_denied, "read the host key of " + name_, reason());
  }
  const ssh_text_owned text(
      libssh().ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size));
  libssh().ssh_clean_pubkey_hash(&hash);
  return std::string(libssh().ssh_key_type_to_char(libssh().ssh_key_type(key))) + " " +
         (text ? text.get() : "");
}

result<void> ssh_connection::learn_host_key(const std::string& print) const {
  if (!options_.accept_new_host_key) {
    return failure(errc::permission_denied, "trust " + name_, "its host key is unknown: " + print,
                   "compare it with 'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub' there; if "
                   "they are equal, use --accept-new-host-key once");
  }
  if (libssh().ssh_session_update_known_hosts(session_.get()) == SSH_OK) return {};
  return failure(errc::system, "save the host key of " + name_, reason(),
                 "name a writable file with --known-hosts");
}

result<void> ssh_connection::trust() {
  const auto print = fingerprint();
  if (!print) return std::unexpected(print.error());
  char* file = nullptr;
  libssh().ssh_options_get(session_.get(), SSH_OPTIONS_KNOWNHOSTS, &file);
  const ssh_text_owned owned(file);
  const std::string where = file != nullptr ? file : "~/.ssh/known_hosts";
  switch (libssh().ssh_session_is_known_server(session_.get())) {
    case SSH_KNOWN_HOSTS_OK: return {};
    case SSH_KNOWN_HOSTS_UNKNOWN:
    case SSH_KNOWN_HOSTS_NOT_FOUND: return learn_host_key(*print);
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER: {
      unsigned port = 22;
      libssh().ssh_options_get_port(session_.get(), &port);
      const auto entry =
          port == 22 ? options_.host : "'[" + options_.host + "]:" + std::to_string(port) + "'";
      return failure(errc::permission_denied, "trust " + name_,
                     "its host key has changed: it is now " + *print + ", not the one in " + where +
                         "; another machine may impersonate it",
                     "only if you know why it changed, remove the old key: ssh-keygen -R " + entry +
                         " -f " + where);
    }
    case SSH_KNOWN_HOSTS_ERROR: break;
  }
  return failure(errc::permission_denied, "find the host key of " + name_ + " in " + where,
                 reason());
}

int ssh_connection::give_passphrase(const char* prompt, char* bytes, std::size_t room, int /*echo*/,
                                    int /*verify*/, void* self) {
  auto& of = *static_cast<ssh_connection*>(self);
  of.was_asked_ = true;
  if (!of.options_.ask_passphrase) return -1;
  const auto given = of.options_.ask_passphrase(
      of.options_.key_file.empty() ? prompt : "passphrase of " + of.options_.key_file);
  if (!given || given->size() >= room) return -1;
  std::memcpy(bytes, given->c_str(), given->size() + 1);
  return 0;
}

result<ssh_key_owned> ssh_connection::read_key() {
  const auto& file = options_.key_file;
  if (::access(file.c_str(), R_OK) != 0) return system_failure(errno, "read the key " + file);
  ssh_key key = nullptr;
  if (libssh().ssh_pki_import_privkey_file(file.c_str(), nullptr, give_passphrase, this, &key) ==
      SSH_OK) {
    return ssh_key_owned(key);
  }
  if (!was_asked_) {
    return failure(errc::malformed, "read the key " + file, "it is not an SSH private key",
                   "name the file without .pub");
  }
  return failure(errc::permission_denied, "read the key " + file,
                 "its passphrase is missing or wrong",
                 "set STRATA_KEY_PASSPHRASE, or add the key to ssh-agent and omit --ssh-key");
}

result<void> ssh_connection::log_in() {
  int how = SSH_AUTH_ERROR;
  if (options_.key_file.empty()) {
    how = libssh().ssh_userauth_publickey_auto(session_.get(), nullptr, nullptr);
  } else {
    const auto key = read_key();
    if (!key) return std::unexpected(key.error());
    how = libssh().ssh_userauth_publickey(session_.get(), nullptr, key->get());
  }
  if (how == SSH_AUTH_SUCCESS) return {};
  const bool named = !options_.key_file.empty();
  const auto with =
      named ? "with the key " + options_.key_file : "with the keys of ssh-agent and of ~/.ssh";
  if (how == SSH_AUTH_ERROR) {
    return failure(errc::connection_closed, "log in to " + name_ + ' ' + with, reason());
  }
  if (how == SSH_AUTH_PARTIAL) {
    return failure(errc::not_supported, "log in to " + name_ + ' ' + with,
                   "the key was accepted, but sshd requires more than a key",
                   "allow this user to log in by key alone");
  }
  return failure(errc::permission_denied, "log in to " + name_ + ' ' + with,
                 named ? "the key was refused" : "no key was accepted",
                 named ? "add " + options_.key_file +
                             ".pub to ~/.ssh/authorized_keys there, or "
                             "name another user (--host USER@HOST) or key (--ssh-key)"
                       : "name a key that is in ~/.ssh/authorized_keys there: --ssh-key FILE");
}

}  // namespace strata::measure
