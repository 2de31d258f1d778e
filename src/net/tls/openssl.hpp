// Owners of OpenSSL's objects, and its error texts. For net/tls alone.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

namespace strata::net {

template <auto Free>
struct openssl_deleter {
  template <class T>
  void operator()(T* which) const {
    Free(which);
  }
};

using ssl_pointer = std::unique_ptr<SSL, openssl_deleter<SSL_free>>;
using ssl_context_pointer = std::unique_ptr<SSL_CTX, openssl_deleter<SSL_CTX_free>>;
using bio_pointer = std::unique_ptr<BIO, openssl_deleter<BIO_free_all>>;
using x509_pointer = std::unique_ptr<X509, openssl_deleter<X509_free>>;
using key_pointer = std::unique_ptr<EVP_PKEY, openssl_deleter<EVP_PKEY_free>>;

struct x509_stack_deleter {
  void operator()(STACK_OF(X509) * which) const { sk_X509_pop_free(which, X509_free); }
};
using x509_stack = std::unique_ptr<STACK_OF(X509), x509_stack_deleter>;

/// Returns and clears OpenSSL's reason for the call that has just failed.
[[nodiscard]] std::string take_openssl_reason();

}  // namespace strata::net
