// A local authority, for development and for machines of one owner: it is made once, and issues
// certificates that are good wherever its own is trusted.
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
  std::vector<std::string> names;  ///< of hosts, `*.example.com` too, or addresses
  std::chrono::seconds life = std::chrono::hours(24) * 397;
};

/// The authority in `folder`, made there when it is missing: `ca.pem` and `ca-key.pem`. The folder
/// exists. Errors: of the files; conflict when one of the two is missing.
[[nodiscard]] result<certificate_files> open_authority(const std::string& folder);

/// Writes `NAME.pem`, the certificate and then the authority's, and `NAME-key.pem`, mode 0600,
/// into `folder`; NAME is the first of the order's, `*` written as `_wildcard`. What is there under
/// these names is replaced. Errors: invalid_argument of a name; of the files.
[[nodiscard]] result<certificate_files> issue_certificate(const certificate_files& authority,
                                                          const certificate_order& order,
                                                          const std::string& folder);

}  // namespace strata::net
