// A frame as text for people, and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "strata/l2/device.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::cli {

/// One line: time, addresses, tags, type, size, and the content as far as it is known.
[[nodiscard]] std::string describe_frame(const l2::received_frame& frame);

/// At most `limit` characters of the payload of a frame of strata's own EtherType; for a ping its
/// number.
[[nodiscard]] std::string message_text(const wire::ethernet_view& view,
                                       std::size_t limit = SIZE_MAX);

[[nodiscard]] nlohmann::json frame_to_json(const l2::received_frame& frame);

/// Formats 0x88b5.
[[nodiscard]] std::string hex_type(std::uint16_t type);

}  // namespace strata::cli
