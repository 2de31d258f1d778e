// A client as a line of CLIENT LIST.
#pragma once

#include <string>

#include "runtime/cache/engine/clients/client.hpp"

namespace strata::runtime::cache {

class front;

/// Returns the client's properties, without the end of the line.
[[nodiscard]] std::string client_text(front& front, client& client);

}  // namespace strata::runtime::cache
