// The folder whose files are served, and the answer for what cannot be opened in it.
#pragma once

#include "loop/file_root.hpp"

namespace strata::http {

using loop::file_root;
using loop::file_version;
using loop::opened_file;

/// The answer's status for what could not be opened: 403, 404 or 503.
[[nodiscard]] int status_of_open(int failed_with);

}  // namespace strata::http
