// What two daemons say to each other while one takes over from the other: JSON objects with
// descriptors, each a packet of a SOCK_SEQPACKET connection.
//
//   from the later one                     from the present one
//   {"protocol", "version", "state_dir"}
//                                          {"refused": SENTENCE}, the end; or
//                                          {"sockets": [{"is_kept"}, …]} with them, in parts
//                                          {"lock": true, "is_drained": BOOL} with the lock of the
//                                          state folder
//   {"alive": true}, each second
//   {"ready": true}, or its end
//                                          its end; or {"given_up": SENTENCE}: it goes on, as
//                                          soon as the later one has ended
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "process/packet.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon::takeover {

constexpr int protocol = 2;

struct packet {
  nlohmann::json content = nlohmann::json::object();
  std::vector<unique_fd> descriptors = {};

  /// Whether the content has this key with a value of type T.
  template <class T>
  [[nodiscard]] std::optional<T> find(const char* key) const {
    const auto found = content.find(key);
    if (found == content.end()) return std::nullopt;
    const auto* const value = found->template get_ptr<const T*>();
    return value == nullptr ? std::nullopt : std::optional<T>(*value);
  }
};

/// Sends a packet, without waiting. Errors: connection_closed if the other end is closed, or has no
/// room.
[[nodiscard]] result<void> send(int connection, const nlohmann::json& content,
                                std::span<const unique_fd> descriptors = {});
/// Returns the packet that has come. Errors: those of `process::receive_packet`; malformed if it is
/// not a JSON object.
[[nodiscard]] result<packet> receive(int connection);

/// The error if the process at the other end is of another user.
[[nodiscard]] result<void> check_peer(int connection, const std::string& operation);

/// Whether version `one` (such as 1.10.2) is lower than `other`.
[[nodiscard]] bool is_older(std::string_view one, std::string_view other);

}  // namespace strata::daemon::takeover
