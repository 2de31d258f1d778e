// A client as users see it: as a line of CLIENT LIST.
#pragma once

#include <string>
#include <string_view>

#include "runtime/cache/engine/clients/client.hpp"

namespace strata::runtime::cache {

class front;

/// Returns the name of the user as which it acts.
[[nodiscard]] std::string_view user_name(const client& client);
/// Returns the client's properties, without the end of the line.
[[nodiscard]] std::string client_text(front& front, client& client);

}  // namespace strata::runtime::cache
