// strata start -i NAME, of a server or a client, at a terminal: lines are edited, and what comes is
// shown above them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// A message that came, of a stream of them: its own bytes.
[[nodiscard]] std::string message_bytes(const nlohmann::json& message);
/// "[FROM] TEXT", where there is more than one that it may be from: nothing that moves the cursor.
[[nodiscard]] std::string message_line(const nlohmann::json& message);
/// Why a stream of messages has ended.
[[nodiscard]] std::unexpected<refusal> no_more_messages(const std::string& name);

/// `detail` is what the daemon says of the runtime, `messages` what it hears. Until the input's
/// end, or Ctrl-C, which ends the program.
[[nodiscard]] outcome<int> converse(control_client& client, const nlohmann::json& detail,
                                    line_stream& messages);

}  // namespace strata::cli
