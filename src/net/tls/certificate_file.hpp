// Certificates and keys as OpenSSL has them. For net/tls alone.
#pragma once

#include <string>

#include "net/tls/certificate.hpp"
#include "net/tls/openssl.hpp"

namespace strata::net {

/// The certificates of a PEM file: at least one. Errors: of the file; malformed.
[[nodiscard]] result<x509_stack> load_certificates(const std::string& file);
/// Errors: of the file, and of what others may do with it; malformed.
[[nodiscard]] result<key_pointer> load_key(const std::string& file);
[[nodiscard]] certificate_info info_of(X509& certificate, std::string file);
/// `/C=…/CN=…` as `CN=…,C=…` (RFC 4514), control characters as `\0A`. "(unreadable)" where it is
/// no name as a whole; empty where it is empty.
[[nodiscard]] std::string text_of(const X509_NAME* name);

}  // namespace strata::net
