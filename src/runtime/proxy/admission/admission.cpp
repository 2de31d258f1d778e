#include "runtime/proxy/admission/admission.hpp"

#include <chrono>
#include <optional>
#include <ranges>
#include <string_view>

namespace strata::runtime::proxy {

namespace {

std::vector<loop::network> networks_of(const std::vector<std::string>& texts) {
  std::vector<loop::network> all;
  all.reserve(texts.size());
  for (const auto& each : texts) all.push_back(*loop::network::parse(each));
  return all;
}

/// Reads `192.0.2.1`, `2001:db8::1`, or one of them with a port: `[2001:db8::1]:80`.
std::optional<loop::socket_address> read_address(std::string_view text) {
  const auto blank = [](char each) { return each == ' ' || each == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  if (text.starts_with('[')) {
    text = text.substr(1, text.find(']') - 1);
  } else if (text.find(':') == text.rfind(':')) {
    text = text.substr(0, text.find(':'));
  }
  if (text.contains('%')) return std::nullopt;
  const auto read = loop::socket_address::from_ip(std::string(text), 0);
  if (!read) return std::nullopt;
  // As the kernel reports it: IPv4 inside IPv6 is IPv4.
  return loop::socket_address(read->data(), read->size());
}

}  // namespace

result<void> check_networks(const std::vector<std::string>& texts) {
  for (const auto& each : texts) {
    if (const auto read = loop::network::parse(each); !read) return std::unexpected(read.error());
  }
  return {};
}

void admission::become(const proxy_options& options, std::size_t share) {
  allowed_ = networks_of(options.allow);
  denied_ = networks_of(options.deny);
  rate_ = (options.rate_per_client + share - 1) / share;
}

bool admission::lets_in(const loop::socket_address& client) const {
  if (client.family() != AF_INET && client.family() != AF_INET6) return true;
  if (loop::is_in(denied_, client)) return false;
  return allowed_.empty() || loop::is_in(allowed_, client);
}

loop::duration admission::wait_of(const loop::socket_address& client, loop::time_point now) {
  const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
  return std::chrono::nanoseconds(rates_.wait_of(client, now_ns.count(), rate_));
}

std::string host_of(const loop::socket_address& address) {
  if (address.family() != AF_INET && address.family() != AF_INET6) return {};
  auto text = address.text();
  text.resize(text.rfind(':'));
  return text;
}

loop::socket_address client_of(const proto::http_request& request, const loop::socket_address& peer,
                               const std::vector<loop::network>& trusted) {
  auto client = peer;
  for (const auto& [name, value] : request.headers | std::views::reverse) {
    if (name != "x-forwarded-for") continue;
    for (auto rest = std::string_view(value);;) {
      if (!loop::is_in(trusted, client)) return client;
      const auto comma = rest.rfind(',');
      const auto one = read_address(rest.substr(comma == std::string_view::npos ? 0 : comma + 1));
      if (!one) return client;
      client = *one;
      if (comma == std::string_view::npos) break;
      rest = rest.substr(0, comma);
    }
  }
  return client;
}

}  // namespace strata::runtime::proxy
