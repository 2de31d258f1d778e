#include "daemon/api/access_policy.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "text/word.hpp"

namespace strata::daemon {

namespace {

bool is_member(int fd, gid_t own, gid_t group) {
  if (own == group) return true;
  std::vector<gid_t> groups(1024);
  auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return false;
  groups.resize(size / sizeof(gid_t));
  return std::ranges::find(groups, group) != groups.end();
}

/// The token of `Authorization: Bearer TOKEN`. Empty if there is none, or if there are two such
/// fields: an intermediary could have read the other one.
std::string_view token_of(const proto::http_request& request) {
  constexpr std::string_view scheme = "bearer ";
  std::string_view value;
  bool is_given = false;
  for (const auto& [name, text] : request.headers) {
    if (name != "authorization") continue;
    if (std::exchange(is_given, true)) return {};
    value = text;
  }
  if (!text::same_text(value.substr(0, scheme.size()), scheme)) return {};
  const auto first = value.find_first_not_of(' ', scheme.size());
  return first == std::string_view::npos ? std::string_view{} : value.substr(first);
}

}  // namespace

// The socket's mode keeps other users out; this is a second check, in case the mode is changed.
std::optional<runtime::role> access_policy::role_of_process(const loop::descriptor& peer) const {
  ucred found{};
  socklen_t size = sizeof found;
  if (::getsockopt(peer.fd(), SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return std::nullopt;
  // A script or a proxy of this daemon, however it found the socket.
  if (found.pid == ::getpid()) return std::nullopt;
  if (found.uid == 0 || found.uid == ::geteuid()) return runtime::role::admin;
  if (!group_ || !is_member(peer.fd(), found.gid, group_->id)) return std::nullopt;
  return group_->role;
}

runtime::role access_policy::role_of_subject(std::string_view subject) const {
  return remote_.certificates ? remote_.certificates->find(subject) : runtime::role::read;
}

std::optional<runtime::role> access_policy::role_of_request(const proto::http_request& request,
                                                            runtime::role of_certificate) const {
  if (remote_.tokens.empty()) return of_certificate;
  const auto found = remote_.tokens.find(token_of(request));
  if (!found) return std::nullopt;
  return std::max(*found, of_certificate);
}

}  // namespace strata::daemon
