// strata start -i NAME, for a server or a client, at a terminal: lines are edited, and messages are
// shown above them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// The bytes of a received message, an object of the stream.
[[nodiscard]] std::string message_bytes(const nlohmann::json& message);
/// "[FROM] TEXT" if there may be several senders; without anything that moves the cursor.
[[nodiscard]] std::string message_line(const nlohmann::json& message);
/// The error of a stream of messages that has ended.
[[nodiscard]] std::unexpected<refusal> no_more_messages(const std::string& name);

/// `detail` is the daemon's description of the runtime, `messages` the stream of received ones.
/// Runs until the input's end, or Ctrl-C, which ends the program.
[[nodiscard]] outcome<int> converse(control_client& client, const nlohmann::json& detail,
                                    line_stream& messages);

}  // namespace strata::cli
