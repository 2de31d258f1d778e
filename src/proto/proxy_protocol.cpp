#include "proto/proxy_protocol.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstring>
#include <vector>

namespace strata::proto {

namespace {

using namespace std::string_view_literals;

constexpr auto first_of_v1 = "PROXY "sv;
constexpr std::size_t longest_v1 = 107;  // including its line end
constexpr auto first_of_v2 = "\r\n\r\n\0\r\nQUIT\n"sv;
constexpr std::size_t fixed_of_v2 = 16;
constexpr std::size_t longest_v2 = 4096;

constexpr unsigned char command_local = 0x20;
constexpr unsigned char command_proxy = 0x21;
constexpr unsigned char tcp_by_ip4 = 0x11;
constexpr unsigned char tcp_by_ip6 = 0x21;

using outcome = result<std::optional<proxy_header>>;

std::unexpected<error> no_header(std::string reason, std::size_t offset) {
  error made{.code = errc::malformed,
             .operation = "read a PROXY header",
             .reason = std::move(reason),
             .remedy =
                 "configure the sending proxy to write it (HAProxy: send-proxy, nginx: "
                 "proxy_protocol on), or do not expect it from there",
             .offset = offset};
  return std::unexpected(std::move(made));
}

// Accepts only digits, without superfluous zeros.
std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* const end = text.data() + text.size();
  const auto [last, code] = std::from_chars(text.data(), end, port);
  const bool has_spare_zero = text.size() > 1 && text.front() == '0';
  if (code != std::errc{} || last != end || has_spare_zero) return std::nullopt;
  return port;
}

bool is_address(int family, const std::string& text) {
  std::array<std::byte, sizeof(in6_addr)> parsed{};
  return inet_pton(family, text.c_str(), parsed.data()) == 1;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= line.size();) {
    const auto end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// PROXY TCP4 192.0.2.1 198.51.100.2 5000 443
outcome read_v1(std::string_view seen) {
  const auto end = seen.substr(0, longest_v1).find("\r\n");
  if (end == std::string_view::npos) {
    if (seen.size() < longest_v1) return std::nullopt;
    return no_header("its line does not end within 107 bytes", longest_v1);
  }
  const auto words = split(seen.substr(0, end));
  proxy_header made{.of = std::nullopt, .size = end + 2};
  if (words[1] == "UNKNOWN") return made;
  const bool is_ip4 = words[1] == "TCP4";
  if (!is_ip4 && words[1] != "TCP6") {
    return no_header("its protocol is not TCP4, TCP6 or UNKNOWN", first_of_v1.size());
  }
  if (words.size() != 6) return no_header("it does not have two addresses and two ports", end);
  const int family = is_ip4 ? AF_INET : AF_INET6;
  const auto from = read_port(words[4]);
  const auto to = read_port(words[5]);
  proxied_ends ends{{std::string(words[2]), from.value_or(0)},
                    {std::string(words[3]), to.value_or(0)}};
  if (!is_address(family, ends.client.host) || !is_address(family, ends.server.host)) {
    return no_header("an address does not match its family", first_of_v1.size());
  }
  if (!from || !to) return no_header("a port is not a number from 0 to 65535", end);
  made.of = std::move(ends);
  return made;
}

std::uint16_t read_u16(std::string_view text) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(text[0]) << 8U |
                                    static_cast<unsigned char>(text[1]));
}

/// Reads both addresses, then both ports.
proxied_ends read_ends(int family, std::string_view source) {
  const std::size_t each = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto host = [&](std::size_t offset) -> std::string {
    return inet_ntop(family, source.data() + offset, text.data(), text.size());
  };
  return {{host(0), read_u16(source.substr(2 * each))},
          {host(each), read_u16(source.substr(2 * each + 2))}};
}

// AF_UNSPEC, AF_INET, AF_INET6 or AF_UNIX, with UNSPEC, STREAM or DGRAM: others must be rejected
// (the specification, section 2.2).
bool is_defined(unsigned char family) { return family >> 4U <= 3 && (family & 0xfU) <= 2; }

// Returns the size of a family's addresses; 0 if there are none to read.
std::size_t size_of_ends(unsigned char family) {
  constexpr std::array<std::size_t, 4> sizes{0, 12, 36, 216};
  return sizes.at(family >> 4U);
}

outcome read_v2(std::string_view seen) {
  if (seen.size() < fixed_of_v2) return std::nullopt;
  const auto command = static_cast<unsigned char>(seen[12]);
  const auto family = static_cast<unsigned char>(seen[13]);
  const std::size_t size = fixed_of_v2 + read_u16(seen.substr(14));
  if (command != command_local && command != command_proxy) {
    return no_header("its version 2 command is neither LOCAL nor PROXY", 12);
  }
  if (!is_defined(family)) {
    return no_header("its address family or transport is invalid", 13);
  }
  if (size > longest_v2) {
    return failure(errc::limit_exceeded, "read a PROXY header",
                   "it has " + std::to_string(size) + " bytes; the limit is 4096");
  }
  const bool is_ip4 = family == tcp_by_ip4;
  const bool has_ends = command == command_proxy && (is_ip4 || family == tcp_by_ip6);
  if (command == command_proxy && size < fixed_of_v2 + size_of_ends(family)) {
    return no_header("it is too short for its addresses", 14);
  }
  if (seen.size() < size) return std::nullopt;
  proxy_header made{.of = std::nullopt, .size = size};
  if (has_ends) made.of = read_ends(is_ip4 ? AF_INET : AF_INET6, seen.substr(fixed_of_v2));
  return made;
}

bool is_ip4(const proxied_ends& ends) { return !ends.client.host.contains(':'); }

std::string write_v1(const std::optional<proxied_ends>& ends) {
  if (!ends) return "PROXY UNKNOWN\r\n";
  return (is_ip4(*ends) ? "PROXY TCP4 " : "PROXY TCP6 ") + ends->client.host + " " +
         ends->server.host + " " + std::to_string(ends->client.port) + " " +
         std::to_string(ends->server.port) + "\r\n";
}

void add_u16(std::string& text, std::size_t value) {
  text += static_cast<char>(value >> 8U);
  text += static_cast<char>(value & 0xffU);
}

std::string write_v2(const std::optional<proxied_ends>& ends) {
  std::string made(first_of_v2);
  if (!ends) {
    made += static_cast<char>(command_local);
    made += '\0';
    add_u16(made, 0);
    return made;
  }
  const int family = is_ip4(*ends) ? AF_INET : AF_INET6;
  const std::size_t each = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
  made += static_cast<char>(command_proxy);
  made += static_cast<char>(family == AF_INET ? tcp_by_ip4 : tcp_by_ip6);
  add_u16(made, 2 * each + 4);
  for (const auto* end : {&ends->client, &ends->server}) {
    std::array<char, sizeof(in6_addr)> address{};
    inet_pton(family, end->host.c_str(), address.data());
    made.append(address.data(), each);
  }
  add_u16(made, ends->client.port);
  add_u16(made, ends->server.port);
  return made;
}

}  // namespace

outcome read_proxy_header(std::string_view seen) {
  const auto begins = [seen](std::string_view text) {
    return text.starts_with(seen.substr(0, text.size()));
  };
  if (begins(first_of_v2)) return read_v2(seen);
  if (!begins(first_of_v1)) return no_header("the connection starts with other data", 0);
  if (seen.size() < first_of_v1.size()) return std::nullopt;
  return read_v1(seen);
}

std::string write_proxy_header(int version, const std::optional<proxied_ends>& ends) {
  return version == 1 ? write_v1(ends) : write_v2(ends);
}

}  // namespace strata::proto
