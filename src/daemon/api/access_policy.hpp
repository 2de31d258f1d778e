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

/// What clients that come by TLS have to show. With both, each has to show both.
struct remote_access {
  token_list tokens = {};                              ///< empty: no token is asked for
  std::optional<certificate_roles> certificates = {};  ///< unset: no certificate is asked for
};

class access_policy {
 public:
  void set_group(std::optional<socket_group> group) { group_ = group; }
  void set_remote(remote_access access) { remote_ = std::move(access); }
  void set_tokens(token_list tokens) { remote_.tokens = std::move(tokens); }

  /// The role of the process at the other end of the control socket: root and the daemon's user are
  /// admin, the group's members have its role. Nullopt: it is not let in.
  [[nodiscard]] std::optional<runtime::role> role_of_process(const loop::descriptor& peer) const;

  /// The role that a certificate gives, which TLS has verified; read where none is asked for.
  [[nodiscard]] runtime::role role_of_subject(std::string_view subject) const;

  /// The role of a request by TLS: the higher one of the certificate's and the token's. Nullopt: it
  /// lacks the token.
  [[nodiscard]] std::optional<runtime::role> role_of_request(const proto::http_request& request,
                                                             runtime::role of_certificate) const;

 private:
  std::optional<socket_group> group_;
  remote_access remote_;
};

}  // namespace strata::daemon
