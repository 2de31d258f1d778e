// Certificates as values, and the files that hold them and their keys.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::net {

struct certificate_info {
  std::string file;  ///< empty: it was not read from a file
  std::string subject;
  std::string issuer;
  std::vector<std::string> names;  ///< host names and addresses that it is valid for
  std::chrono::system_clock::time_point not_before;
  std::chrono::system_clock::time_point not_after;
  bool is_authority = false;
};

/// Formats as `2026-11-22 18:00:00 UTC`.
[[nodiscard]] std::string format_date(std::chrono::system_clock::time_point when);

/// Reads the certificates of a PEM file, in its order. Errors: those of the file; malformed if it
/// holds none.
[[nodiscard]] result<std::vector<certificate_info>> read_certificates(const std::string& file);

/// Reads a key file. Errors: permission_denied if other users can read it too.
[[nodiscard]] result<std::string> read_key_file(const std::string& file);

}  // namespace strata::net
