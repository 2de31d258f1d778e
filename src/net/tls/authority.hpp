// A local authority, for development and for machines of one owner: it is created once, and issues
// certificates that are valid wherever its own certificate is trusted.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::net {

/// Paths of a certificate and its key, both PEM.
struct certificate_files {
  std::string certificate;
  std::string key;
};

struct certificate_order {
  std::vector<std::string> names;  ///< host names, `*.example.com` too, or addresses
  std::chrono::seconds life = std::chrono::hours(24) * 397;
};

/// Opens the authority in `folder`, or creates it there if it is missing: `ca.pem` and
/// `ca-key.pem`. The folder exists. Errors: those of the files; conflict if one of the two is
/// missing.
[[nodiscard]] result<certificate_files> open_authority(const std::string& folder);

/// Writes `NAME.pem`, the certificate followed by the authority's, and `NAME-key.pem`, mode 0600,
/// into `folder`; NAME is the order's first name, with `*` written as `_wildcard`. Existing files
/// of these names are replaced. Errors: invalid_argument for a name; those of the files.
[[nodiscard]] result<certificate_files> issue_certificate(const certificate_files& authority,
                                                          const certificate_order& order,
                                                          const std::string& folder);

}  // namespace strata::net
