// The script that `--http-inject` puts into pages: a WebSocket to the server that they came from.
#pragma once

#include <string>
#include <string_view>

namespace strata::http {

/// The page with the script before `</head>`, or else before `</body>`, or else at its end.
[[nodiscard]] std::string with_script(std::string_view page);

}  // namespace strata::http
