// The functions of nl::route that make changes.
#include <arpa/inet.h>
#include <linux/rtnetlink.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "nl/link_request.hpp"
#include "strata/nl/route.hpp"

namespace strata::nl {

namespace {

error with_remedy(error why) {
  if (why.code == errc::permission_denied) why.remedy = "run it as root, or grant it CAP_NET_ADMIN";
  return why;
}

// Adds why a kernel cannot create a link of that kind, and the remedy.
error explained(error why, const link_kind& kind) {
  why = with_remedy(std::move(why));
  const auto name = std::string(name_of(kind));
  if (why.code == errc::not_supported && why.reason == "Unknown device type") {
    why.reason = "this kernel does not support interfaces of the kind '" + name + "'";
    why.remedy = std::string("load its module (modprobe ") + (name == "vlan" ? "8021q" : name) +
                 "), or use a kernel that supports it";
  }
  return why;
}

std::string known_name(route& route, int index) {
  const auto found = route.link_at(index);
  return found ? "'" + found->name + "'" : std::to_string(index);
}

}  // namespace

result<link> route::add_link(const new_link& link) {
  const auto operation =
      "create the " + std::string(name_of(link.kind)) + " interface '" + link.name + "'";
  auto request = over_.request();
  write_new_link(request, link);
  if (const auto made = over_.ask(request, operation); !made) {
    return std::unexpected(explained(made.error(), link.kind));
  }
  return link_named(link.name);
}

result<void> route::set_link(int index, const link_changes& changes) {
  const auto operation = "change interface " + known_name(*this, index);
  auto request = over_.request();
  write_changes(request, index, changes);
  auto done = over_.ask(request, operation);
  if (done) return {};
  // Before Linux 6.2.
  if (changes.name && done.error().sys_errno == EBUSY) {
    done.error().remedy =
        "this kernel renames an interface only while it is down: bring it down first";
  }
  return std::unexpected(with_remedy(std::move(done.error())));
}

result<void> route::remove_link(int index) {
  const auto operation = "remove interface " + known_name(*this, index);
  auto request = over_.request();
  const ifinfomsg head{.ifi_index = index};
  request.begin(RTM_DELLINK, wire::netlink_flag::request | wire::netlink_flag::ack)
      .put_header(std::as_bytes(std::span(&head, 1)));
  const auto done = over_.ask(request, operation);
  if (!done) return std::unexpected(with_remedy(done.error()));
  return {};
}

result<void> route::change_address(std::uint16_t type, std::uint16_t flags,
                                   const link_address& address, std::string_view operation) {
  ifaddrmsg head{};
  head.ifa_family = address.is_v6 ? AF_INET6 : AF_INET;
  head.ifa_prefixlen = address.prefix;
  head.ifa_index = static_cast<unsigned>(address.interface_index);
  auto request = over_.request();
  request.begin(type, wire::netlink_flag::request | wire::netlink_flag::ack | flags)
      .put_header(std::as_bytes(std::span(&head, 1)))
      .put(IFA_LOCAL, address.bytes)
      .put(IFA_ADDRESS, address.bytes);
  auto done = over_.ask(request, operation);
  if (done) return {};
  if (done.error().sys_errno == EADDRNOTAVAIL) done.error().code = errc::not_found;
  return std::unexpected(with_remedy(std::move(done.error())));
}

result<void> route::add_address(const link_address& address) {
  using namespace wire::netlink_flag;
  return change_address(RTM_NEWADDR, create | exclusive, address,
                        "add the address " + address.text() + " to interface " +
                            known_name(*this, address.interface_index));
}

result<void> route::remove_address(const link_address& address) {
  return change_address(RTM_DELADDR, 0, address,
                        "remove the address " + address.text() + " from interface " +
                            known_name(*this, address.interface_index));
}

result<link_address> link_address::from_text(int interface_index, std::string_view text) {
  const auto refuse = [&](std::string reason) {
    return failure(errc::invalid_argument, "read the address '" + std::string(text) + "'",
                   std::move(reason), "write it as 192.0.2.1/24 or 2001:db8::1/64");
  };
  const auto slash = text.find('/');
  const std::string host(text.substr(0, slash));
  std::array<std::byte, sizeof(in6_addr)> bytes{};
  link_address made{.interface_index = interface_index, .bytes = {}};
  made.is_v6 = host.contains(':');
  if (::inet_pton(made.is_v6 ? AF_INET6 : AF_INET, host.c_str(), bytes.data()) != 1) {
    return refuse("it is not an IP address");
  }
  const std::size_t size = made.is_v6 ? sizeof(in6_addr) : sizeof(in_addr);
  made.bytes.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  unsigned prefix = static_cast<unsigned>(8 * size);
  if (slash != std::string_view::npos) {
    const auto digits = text.substr(slash + 1);
    const auto* const end = digits.data() + digits.size();
    const auto most = prefix;
    const auto [rest, code] = std::from_chars(digits.data(), end, prefix);
    if (digits.empty() || code != std::errc{} || rest != end || prefix > most) {
      return refuse("its prefix is not a number from 0 to " + std::to_string(most));
    }
  }
  made.prefix = static_cast<std::uint8_t>(prefix);
  return made;
}

}  // namespace strata::nl
