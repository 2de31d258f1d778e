#include "daemon/takeover/packet.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "options/own_folder.hpp"
#include "text/number.hpp"

namespace strata::daemon::takeover {

result<void> send(int connection, const nlohmann::json& content,
                  std::span<const unique_fd> descriptors) {
  std::vector<int> numbers;
  numbers.reserve(descriptors.size());
  for (const auto& each : descriptors) numbers.push_back(each.get());
  if (process::send_packet(connection, content.dump(), numbers)) return {};
  return failure(errc::connection_closed, "write to the other daemon", "it reads nothing");
}

result<packet> receive(int connection) {
  const auto* const operation = "read from the other daemon";
  auto received = process::receive_packet(connection);
  if (!received) return std::unexpected(received.error());
  if (!*received) return failure(errc::timed_out, operation, "it has not answered");
  auto content = nlohmann::json::parse((*received)->text, nullptr, false);
  if (!content.is_object()) {
    return failure(errc::malformed, operation, "its message is not a JSON object");
  }
  return packet{.content = std::move(content), .descriptors = std::move((*received)->descriptors)};
}

result<void> check_peer(int connection, const std::string& operation) {
  const auto peer = process::peer_of(connection);
  if (!peer) return failure(errc::permission_denied, operation, "its user is unknown");
  if (peer->user == ::geteuid()) return {};
  return failure(errc::permission_denied, operation,
                 fmt::format("the other daemon runs as {}, this one as {}",
                             options::user_text(peer->user), options::user_text(::geteuid())),
                 "start the new daemon as the same user");
}

bool is_older(std::string_view one, std::string_view other) {
  const auto next = [](std::string_view& version) {
    const auto end = std::min(version.find('.'), version.size());
    const auto number = text::number_in<unsigned>(version.substr(0, end)).value_or(0);
    version.remove_prefix(std::min(end + 1, version.size()));
    return number;
  };
  while (!one.empty() || !other.empty()) {
    const auto left = next(one);
    const auto right = next(other);
    if (left != right) return left < right;
  }
  return false;
}

}  // namespace strata::daemon::takeover
