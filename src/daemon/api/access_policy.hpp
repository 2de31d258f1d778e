// The callers that may use the control API, and the role of each.
#pragma once

#include <sys/types.h>

#include <optional>

#include "daemon/api/certificate_roles.hpp"
#include "daemon/api/token_list.hpp"
#include "loop/loop.hpp"
#include "proto/http/http1.hpp"
#include "runtime/operations.hpp"

namespace strata::daemon {

/// The group whose members may use the control socket, besides the daemon's user and root.
struct socket_group {
  gid_t id;
  runtime::role role = runtime::role::operate;
};

/// What TLS clients must present. If both members are set, both are required.
struct remote_access {
  token_list tokens = {};                              ///< empty: no token is required
  std::optional<certificate_roles> certificates = {};  ///< unset: no certificate is required
};

class access_policy {
 public:
  void set_group(std::optional<socket_group> group) { group_ = group; }
  void set_remote(remote_access access) { remote_ = std::move(access); }
  void set_tokens(token_list tokens) { remote_.tokens = std::move(tokens); }

  /// Returns the role of the process at the other end of the control socket: root and the daemon's
  /// user are admin, the group's members have its role. Nullopt: it is refused.
  [[nodiscard]] std::optional<runtime::role> role_of_process(const loop::descriptor& peer) const;

  /// Returns the role of a certificate's subject, which TLS has verified; read if no certificates
  /// are required.
  [[nodiscard]] runtime::role role_of_subject(std::string_view subject) const;

  /// Returns the role of a TLS request: the higher one of the certificate's and the token's.
  /// Nullopt if it lacks the required token.
  [[nodiscard]] std::optional<runtime::role> role_of_request(const proto::http_request& request,
                                                             runtime::role of_certificate) const;

 private:
  std::optional<socket_group> group_;
  remote_access remote_;
};

}  // namespace strata::daemon
