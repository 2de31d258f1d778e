// The script that `--http-inject` puts into pages: a WebSocket to the page's own server.
#pragma once

#include <string>
#include <string_view>

namespace strata::http {

/// Inserts the script before `</head>`, or else before `</body>`, or else at the page's end.
[[nodiscard]] std::string with_script(std::string_view page);

}  // namespace strata::http
