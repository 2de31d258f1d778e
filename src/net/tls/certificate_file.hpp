// Certificates and keys as OpenSSL objects. For net/tls alone.
#pragma once

#include <string>

#include "net/tls/certificate.hpp"
#include "net/tls/openssl.hpp"

namespace strata::net {

/// Loads the certificates of a PEM file: at least one. Errors: those of the file; malformed.
[[nodiscard]] result<x509_stack> load_certificates(const std::string& file);
/// Loads a key. Errors: those of the file, and of its permissions; malformed.
[[nodiscard]] result<key_pointer> load_key(const std::string& file);
[[nodiscard]] certificate_info info_of(X509& certificate, std::string file);
/// Formats `/C=…/CN=…` as `CN=…,C=…` (RFC 4514), control characters as `\0A`. "(unreadable)" if it
/// is not a valid name; empty if it is empty.
[[nodiscard]] std::string text_of(const X509_NAME* name);

}  // namespace strata::net
