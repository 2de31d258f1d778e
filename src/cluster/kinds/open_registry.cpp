#include "cluster/kinds/open_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/etcd/etcd_client.hpp"
#include "cluster/etcd/etcd_registry.hpp"
#include "cluster/folder/folder_registry.hpp"
#include "net/scheme.hpp"

namespace strata::cluster {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view etcd_scheme = "etcd://";
constexpr std::string_view secure_etcd_scheme = "etcds://";
constexpr std::string_view folder_scheme = "dir://";

std::unexpected<error> refuse(const registry_settings& settings, std::string reason,
                              std::string advice) {
  return failure(errc::invalid_argument, fmt::format("join the cluster '{}'", settings.url),
                 std::move(reason), std::move(advice));
}

// Returns a flag that a registry of this kind has no use for; empty if there is none.
std::string_view unused_flag(const registry_settings& settings, bool is_etcd, bool is_secure) {
  if (!is_etcd && !settings.user.empty()) return "--cluster-user";
  if (is_secure) return {};
  if (!settings.tls.ca.empty()) return "--cluster-ca";
  return settings.tls.certificate.certificate.empty() ? "" : "--cluster-cert";
}

// Adds the members of a list with commas.
result<void> read_members(std::string_view list, std::string_view scheme,
                          std::vector<net::endpoint_url>& members) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    auto url = net::parse_connecting(fmt::format("{}://{}", scheme, list.substr(0, comma)));
    if (!url) return std::unexpected(url.error());
    members.push_back(std::move(*url));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return {};
}

result<std::unique_ptr<registry>> open_etcd(loop::loop& loop, const registry_settings& settings,
                                            bool is_secure) {
  std::string_view rest = settings.url;
  rest.remove_prefix(is_secure ? secure_etcd_scheme.size() : etcd_scheme.size());
  const auto slash = rest.find('/');
  const auto prefix = slash == std::string_view::npos ? "/strata" : rest.substr(slash);
  etcd_client::settings etcd{.user = settings.user,
                             .password = settings.password,
                             .timeout = std::max<loop::duration>(settings.ttl / 3, 1s)};
  auto members = read_members(rest.substr(0, slash), is_secure ? "https" : "http", etcd.members);
  if (!members) return std::unexpected(members.error());
  if (etcd.members.empty()) {
    return refuse(settings, "it names no member of etcd", "write etcd://HOST:2379");
  }
  if (settings.user.empty() && !settings.password.empty()) {
    return refuse(settings, "there is a password without a user", "give --cluster-user");
  }
  const auto& [certificate, key] = settings.tls.certificate;
  if (certificate.empty() != key.empty()) {
    return refuse(settings, "the daemon's certificate for etcd or its key is missing",
                  "give both --cluster-cert and --cluster-key");
  }
  if (is_secure) {
    auto tls = net::tls_context::for_client(settings.tls);
    if (!tls) return std::unexpected(tls.error());
    etcd.tls = std::move(*tls);
  }
  const auto is_ended = prefix.ends_with('/');
  return std::make_unique<etcd_registry>(
      std::make_unique<etcd_client>(loop, std::move(etcd)),
      etcd_registry::settings{.prefix = fmt::format("{}{}daemons/", prefix, is_ended ? "" : "/"),
                              .ttl = settings.ttl});
}

}  // namespace

result<std::unique_ptr<registry>> open_registry(loop::loop& loop,
                                                const registry_settings& settings) {
  const std::string_view url = settings.url;
  const bool is_secure = url.starts_with(secure_etcd_scheme);
  const bool is_etcd = is_secure || url.starts_with(etcd_scheme);
  if (const auto flag = unused_flag(settings, is_etcd, is_secure); !flag.empty()) {
    return refuse(settings, fmt::format("{} has no effect there", flag),
                  "leave it out, or join the cluster by etcds://HOST:2379");
  }
  if (is_etcd) return open_etcd(loop, settings, is_secure);
  if (!url.starts_with(folder_scheme)) {
    return refuse(settings, "it is not a registry that strata knows",
                  "write etcd://HOST:2379,HOST:2379, etcds://HOST:2379 or dir:///PATH");
  }
  const auto folder = url.substr(folder_scheme.size());
  if (!folder.starts_with('/')) {
    return refuse(settings, "its folder has no absolute path", "write dir:///PATH");
  }
  return folder_registry::open(loop, std::string(folder), settings.ttl);
}

}  // namespace strata::cluster
