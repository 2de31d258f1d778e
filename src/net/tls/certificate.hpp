// Certificates as values, and the files that they and their keys are read from.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::net {

struct certificate_info {
  std::string file;  ///< empty: it did not come from one
  std::string subject;
  std::string issuer;
  std::vector<std::string> names;  ///< of hosts, and addresses, that it is for
  std::chrono::system_clock::time_point not_before;
  std::chrono::system_clock::time_point not_after;
  bool is_authority = false;
};

/// `2026-11-22 18:00:00 UTC`.
[[nodiscard]] std::string format_date(std::chrono::system_clock::time_point when);

/// The certificates of a PEM file, in its order. Errors: of the file; malformed when it holds none.
[[nodiscard]] result<std::vector<certificate_info>> read_certificates(const std::string& file);

/// The bytes of a file that holds a key. Errors: permission_denied when others can read it too.
[[nodiscard]] result<std::string> read_key_file(const std::string& file);

}  // namespace strata::net
