// Why the rules of a user do not permit a call, and Redis's texts for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

/// What is not permitted. The later ones are the more specific ones.
enum class denied_subject : std::uint8_t { command, key, channel };

struct access_denial {
  denied_subject subject = denied_subject::command;
  std::size_t position = 0;  ///< of the key or the channel among the words

  /// Returns the command's name, or the key or channel.
  [[nodiscard]] std::string object(const command& command,
                                   std::span<const std::string_view> words) const;
  /// Returns the reply to a client.
  [[nodiscard]] std::string reply(const command& command) const;
  /// Returns the error of EXEC for a command that was permitted when it was queued.
  [[nodiscard]] std::string_view transaction_error() const;
  [[nodiscard]] std::string_view script_error() const;
  /// Returns what ACL DRYRUN replies.
  [[nodiscard]] std::string explanation(const command& command,
                                        std::span<const std::string_view> words) const;
};

}  // namespace strata::runtime::cache
