#include "net/tls/inspection.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <memory>

#include "net/tls/blocking_stream.hpp"
#include "net/tls/certificate_file.hpp"

namespace strata::net {

namespace {

using store_pointer = std::unique_ptr<X509_STORE, openssl_deleter<X509_STORE_free>>;
using check_pointer = std::unique_ptr<X509_STORE_CTX, openssl_deleter<X509_STORE_CTX_free>>;

result<store_pointer> trusted_by(const std::string& ca) {
  store_pointer store(X509_STORE_new());
  if (ca.empty()) {
    X509_STORE_set_default_paths(store.get());
    return store;
  }
  const auto authorities = load_certificates(ca);
  if (!authorities) return std::unexpected(authorities.error());
  for (int i = 0; i < sk_X509_num(authorities->get()); ++i) {
    X509_STORE_add_cert(store.get(), sk_X509_value(authorities->get(), i));
  }
  return store;
}

// Returns why `own` is not trusted; empty if it is.
result<std::string> trouble_of(X509* own, STACK_OF(X509) * chain, const inspection_order& order) {
  const auto store = trusted_by(order.ca);
  if (!store) return std::unexpected(store.error());
  const check_pointer check(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(check.get(), store->get(), own, chain) != 1) {
    return failure(errc::system, "verify a certificate", take_openssl_reason());
  }
  auto* const wanted = X509_STORE_CTX_get0_param(check.get());
  X509_VERIFY_PARAM_set_purpose(wanted, X509_PURPOSE_SSL_SERVER);
  if (!order.name.empty() && X509_VERIFY_PARAM_set1_ip_asc(wanted, order.name.c_str()) != 1) {
    X509_VERIFY_PARAM_set1_host(wanted, order.name.data(), order.name.size());
  }
  const int is_good = X509_verify_cert(check.get());
  ERR_clear_error();
  if (is_good == 1) return std::string{};
  return std::string(X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get())));
}

result<inspection> inspection_of(STACK_OF(X509) * chain, const inspection_order& order) {
  inspection made;
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    made.chain.push_back(info_of(*sk_X509_value(chain, i), {}));
  }
  auto trouble = trouble_of(sk_X509_value(chain, 0), chain, order);
  if (!trouble) return std::unexpected(trouble.error());
  made.trouble = std::move(*trouble);
  return made;
}

}  // namespace

result<inspection> inspect_file(const std::string& file, const inspection_order& order) {
  const auto chain = load_certificates(file);
  if (!chain) return std::unexpected(chain.error());
  return inspection_of(chain->get(), order);
}

result<inspection> inspect_server(const std::string& host, std::uint16_t port,
                                  const inspection_order& order, std::chrono::seconds limit) {
  const auto connected = connect_blocking(host, port, limit);
  if (!connected) return std::unexpected(connected.error());
  const auto operation = "complete the TLS handshake with " + host + ":" + std::to_string(port);
  ERR_clear_error();
  const ssl_context_pointer context(SSL_CTX_new(TLS_client_method()));
  const ssl_pointer session(context ? SSL_new(context.get()) : nullptr);
  if (!session || SSL_set_fd(session.get(), connected->get()) != 1) {
    return failure(errc::system, operation, take_openssl_reason());
  }
  auto wanted = order;
  if (wanted.name.empty()) wanted.name = host;
  SSL_set_tlsext_host_name(session.get(), wanted.name.c_str());
  if (SSL_connect(session.get()) != 1) {
    const bool is_silent = ERR_peek_error() == 0;
    return failure(errc::malformed, operation,
                   is_silent ? "it sent nothing or closed the connection" : take_openssl_reason(),
                   "check that a server with TLS listens there");
  }
  auto* const chain = SSL_get_peer_cert_chain(session.get());
  if (sk_X509_num(chain) < 1)
    return failure(errc::malformed, operation, "it showed no certificate");
  auto made = inspection_of(chain, wanted);
  if (!made) return made;
  made->protocol = SSL_get_version(session.get());
  made->cipher = SSL_get_cipher_name(session.get());
  SSL_shutdown(session.get());
  return made;
}

}  // namespace strata::net
