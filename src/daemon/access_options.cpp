#include "daemon/access_options.hpp"

#include <utility>

#include "net/scheme.hpp"

namespace strata::daemon {

result<std::optional<socket_group>> group_of(const options::daemon_options& options) {
  if (options.socket_group.empty()) return std::nullopt;
  const auto id = loop::find_group(options.socket_group);
  if (!id) return std::unexpected(id.error());
  // The option is a choice of roles.
  const auto role = runtime::find_role(options.socket_role);
  return socket_group{*id, role.value_or(runtime::role::read)};
}

result<remote_access> remote_access_of(const options::daemon_options& options) {
  remote_access access;
  if (!options.token_file.empty()) {
    auto tokens = token_list::read(options.token_file);
    if (!tokens) return std::unexpected(tokens.error());
    access.tokens = std::move(*tokens);
  }
  if (!options.client_ca.empty()) {
    auto roles = certificate_roles::parse(options.client_role);
    if (!roles) return std::unexpected(roles.error());
    access.certificates = std::move(*roles);
  }
  return access;
}

bool is_secure_web(const std::string& text) {
  const auto url = net::parse_listening(text);
  return url && url->scheme->name == "https";
}

}  // namespace strata::daemon
