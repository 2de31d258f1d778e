#include "daemon/broker/socket_policy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "options/file_text.hpp"
#include "options/own_folder.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

namespace {

constexpr std::size_t most_bytes = 1U << 20U;

using refusal = std::unexpected<std::string>;
using outcome = std::expected<void, std::string>;

std::optional<std::uint32_t> number_in(std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number, is_hex ? 16 : 10);
  if (text.empty() || code != std::errc{} || rest != end) return {};
  return number;
}

outcome set_user(socket_rule& rule, std::string_view value) {
  rule.user = number_in(value);
  if (rule.user) return {};
  const auto* const found = ::getpwnam(std::string(value).c_str());
  if (found == nullptr) return refusal(fmt::format("no user is named '{}'", value));
  rule.user = found->pw_uid;
  return {};
}

outcome set_group(socket_rule& rule, std::string_view value) {
  rule.group = number_in(value);
  if (rule.group) return {};
  const auto* const found = ::getgrnam(std::string(value).c_str());
  if (found == nullptr) return refusal(fmt::format("no group is named '{}'", value));
  rule.group = found->gr_gid;
  return {};
}

outcome set_queue(socket_rule& rule, std::string_view value) {
  const auto dash = value.find('-');
  const auto first = number_in(value.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_in(value.substr(dash + 1));
  if (!first || !last || *last < *first) {
    return refusal(fmt::format("'{}' is not a queue or a range such as 0-3", value));
  }
  rule.first_queue = *first;
  rule.last_queue = *last;
  return {};
}

outcome set_ethertype(socket_rule& rule, std::string_view value) {
  const auto number = number_in(value);
  if (!number || *number < 0x0600 || *number > 0xFFFF) {
    return refusal(fmt::format("'{}' is not an EtherType from 0x0600 to 0xffff", value));
  }
  rule.ethertype = static_cast<std::uint16_t>(*number);
  return {};
}

outcome set_word(bool& meant, std::string_view key, std::string_view value, std::string_view yes) {
  meant = value == yes;
  if (meant) return {};
  return refusal(fmt::format("'{}={}' is not {}={}", key, value, key, yes));
}

outcome set_member(socket_rule& rule, std::string_view member) {
  const auto equals = member.find('=');
  const auto key = member.substr(0, equals);
  const auto value = equals == std::string_view::npos ? "" : member.substr(equals + 1);
  if (value.empty()) return refusal(fmt::format("'{}' is not NAME=VALUE", member));
  if (key == "user") return set_user(rule, value);
  if (key == "group") return set_group(rule, value);
  if (key == "queue") return set_queue(rule, value);
  if (key == "ethertype") return set_ethertype(rule, value);
  if (key == "socket" && value == "xdp") return {};
  if (key == "socket") return set_word(rule.is_packet, key, value, "packet");
  if (key == "sends") return set_word(rule.sends_everywhere, key, value, "everywhere");
  if (key != "iface") {
    return refusal(
        fmt::format("'{}' is not one of user, group, iface, queue, ethertype, socket, sends", key));
  }
  rule.interface_name = value;
  return {};
}

std::expected<socket_rule, std::string> parse_rule(std::string_view line) {
  socket_rule rule;
  while (!line.empty()) {
    const auto member = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(std::min(member.size() + 1, line.size()));
    if (member.empty()) continue;
    if (auto set = set_member(rule, member); !set) return refusal(set.error());
  }
  if (!rule.user && !rule.group) return refusal("it names no user and no group");
  if (rule.interface_name.empty()) return refusal("it names no interface");
  if (rule.is_packet && !rule.sends_everywhere) {
    return refusal(
        "the owner of an AF_PACKET socket may send on every interface: to allow this, add "
        "sends=everywhere");
  }
  return rule;
}

}  // namespace

bool socket_rule::is_about(const xdp::broker_request& request) const {
  const bool receives = request.socket.receive_size != 0;
  return !is_packet && request.interface_name == interface_name && request.queue >= first_queue &&
         request.queue <= last_queue &&
         (!ethertype || !receives || request.which.ethertype == ethertype);
}

bool socket_rule::is_about(const l2::packet_request& request) const {
  return is_packet && request.interface_name == interface_name &&
         (!ethertype || !request.receives || request.filter.ethertype == ethertype);
}

bool socket_rule::allows(const broker::peer& peer, const socket_request& request) const {
  const bool is_who = (!user || *user == peer.user) &&
                      (!group || std::ranges::find(peer.groups, *group) != peer.groups.end());
  return is_who && std::visit([&](const auto& one) { return is_about(one); }, request);
}

std::string text_of(const socket_request& request) {
  const auto types = [](const std::optional<std::uint16_t>& ethertype) {
    return ethertype ? fmt::format("EtherType 0x{:04x}", *ethertype)
                     : std::string("every EtherType");
  };
  if (const auto* const xdp = std::get_if<xdp::broker_request>(&request)) {
    return fmt::format("queue {} of '{}' for {}", xdp->queue, xdp->interface_name,
                       types(xdp->which.ethertype));
  }
  const auto& packet = std::get<l2::packet_request>(request);
  return fmt::format("an AF_PACKET socket on '{}' for {}", packet.interface_name,
                     types(packet.filter.ethertype));
}

// The file that is checked is the one that is read: both use one descriptor.
result<socket_policy> socket_policy::read(const std::string& path) {
  const auto operation = "read the policy '" + path + "'";
  const auto folder =
      options::open_safe_folder(options::folder_of(path), "socket policy", " with --socket-policy");
  if (!folder) return std::unexpected(folder.error());
  const auto name = path.substr(path.find_last_of('/') + 1);
  const unique_fd file(
      ::openat(folder->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ELOOP) {
    return failure(errc::permission_denied, operation, "it is a link", "name the file itself");
  }
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0) return system_failure(errno, operation);
  if (!S_ISREG(found.st_mode)) {
    return failure(errc::invalid_argument, operation, "it is not a regular file");
  }
  const bool is_ours = found.st_uid == 0 || found.st_uid == ::geteuid();
  if (!is_ours || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return failure(errc::permission_denied, "use the policy '" + path + "'",
                   "other users may write it", "run chown root and chmod 644 on it");
  }
  const auto text = options::read_text(file.get(), most_bytes + 1, operation);
  if (!text) return std::unexpected(text.error());
  if (text->size() > most_bytes) {
    return failure(errc::limit_exceeded, operation, "it is larger than 1 MiB");
  }
  return parse(*text, path);
}

result<socket_policy> socket_policy::parse(std::string_view text, const std::string& name) {
  socket_policy policy;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto rule = parse_rule(line);
    if (!rule) {
      return failure(errc::malformed, fmt::format("read line {} of the policy '{}'", number, name),
                     rule.error(), "write user=NAME iface=IFACE queue=N ethertype=TYPE");
    }
    policy.rules_.push_back(std::move(*rule));
  }
  return policy;
}

result<void> socket_policy::check(const broker::peer& peer, const socket_request& request) const {
  const bool is_allowed = std::ranges::any_of(
      rules_, [&](const socket_rule& one) { return one.allows(peer, request); });
  if (is_allowed) return {};
  return failure(errc::permission_denied,
                 fmt::format("grant user {} {}", peer.user, text_of(request)),
                 "no rule of the daemon's policy allows it", "ask its administrator for a rule");
}

}  // namespace strata::daemon
