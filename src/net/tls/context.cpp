#include "net/tls/context.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <string_view>

#include "net/tls/certificate_file.hpp"
#include "net/tls/context_parts.hpp"

namespace strata::net {

namespace {

using parts = tls_context::parts;

// Forward secrecy and authenticated encryption only; all ciphers of TLS 1.3 have both.
constexpr auto ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr unsigned char session_context[] = "strata";

parts& parts_of(const SSL* session) {
  return *static_cast<parts*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)));
}

// Selects all identities for the client's server name; there may be one per kind of key. The first
// identity is built into the context: its setup is done once, not for each connection.
int choose_identity(SSL* session, void* /*of*/) {
  const auto& all = parts_of(session).identities;
  const auto* const wanted = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name);
  const std::string_view name = wanted == nullptr ? "" : wanted;
  const auto fits = [name](const parts::identity& each) {
    return X509_check_host(each.certificate.get(), name.data(), name.size(), 0, nullptr) == 1;
  };
  if (name.empty() || std::none_of(all.begin() + 1, all.end(), fits)) return 1;
  SSL_certs_clear(session);
  for (const auto& each : all) {
    if (!fits(each)) continue;
    if (SSL_use_cert_and_key(session, each.certificate.get(), each.key.get(), each.chain.get(),
                             1) != 1) {
      return 0;
    }
  }
  return 1;
}

int accept_name(SSL* /*session*/, int* /*alert*/, void* /*of*/) { return SSL_TLSEXT_ERR_OK; }

int choose_protocol(SSL* session, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void* /*of*/) {
  const auto& own = parts_of(session).protocols;
  unsigned char* found = nullptr;
  const int agreed =
      SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(own.data()),
                            static_cast<unsigned>(own.size()), offered, offered_size);
  *chosen = found;
  return agreed == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

int seal_ticket(SSL* session, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                EVP_MAC_CTX* mac, int sealing) {
  const int done = use_ticket_key(parts_of(session).tickets, name, iv, cipher, mac, sealing == 1);
  // Each TLS 1.3 connection gets a ticket of its own (RFC 8446 appendix C.4). It also confirms the
  // client's last flight at once: a client without TCP_NODELAY would wait for that.
  constexpr int renewed = 2;
  return done == 1 && sealing == 0 && SSL_version(session) == TLS1_3_VERSION ? renewed : done;
}

result<std::string> protocols_on_wire(const std::vector<std::string>& names) {
  std::string wire;
  for (const auto& each : names) {
    if (each.empty() || each.size() > 255) {
      return failure(errc::invalid_argument, "offer protocol '" + each + "'",
                     "its name does not have 1 to 255 characters");
    }
    wire += static_cast<char>(each.size());
    wire += each;
  }
  return wire;
}

result<void> add_identity(parts& parts, const tls_key_pair& files) {
  auto chain = load_certificates(files.certificate);
  if (!chain) return std::unexpected(chain.error());
  auto key = load_key(files.key);
  if (!key) return std::unexpected(key.error());
  x509_pointer own(sk_X509_shift(chain->get()));
  if (X509_check_private_key(own.get(), key->get()) != 1) {
    ERR_clear_error();
    return failure(errc::invalid_argument, "use certificate '" + files.certificate + "'",
                   "the key in '" + files.key + "' does not belong to it",
                   "give the pairs of --cert and --key in the same order");
  }
  auto info = info_of(*own, files.certificate);
  const auto now = std::chrono::system_clock::now();
  if (info.not_after < now) {
    return failure(errc::invalid_argument, "use certificate '" + files.certificate + "'",
                   "it expired on " + format_date(info.not_after), "get a new one");
  }
  if (info.not_before > now) {
    return failure(errc::invalid_argument, "use certificate '" + files.certificate + "'",
                   "it is not valid before " + format_date(info.not_before),
                   "check the clock of this machine");
  }
  parts.certificates.push_back(std::move(info));
  parts.identities.push_back({std::move(own), std::move(*key), std::move(*chain)});
  return {};
}

result<void> use_first_identity(const parts& parts, const tls_key_pair& files) {
  const auto& one = parts.identities.front();
  if (SSL_CTX_use_cert_and_key(parts.context.get(), one.certificate.get(), one.key.get(),
                               one.chain.get(), 1) == 1) {
    return {};
  }
  return failure(errc::malformed, "use certificate '" + files.certificate + "'",
                 take_openssl_reason());
}

// Trusts the certificates of `file` as ends of peers' chains.
result<void> trust(parts& parts, const std::string& file, bool sends_names) {
  auto authorities = load_certificates(file);
  if (!authorities) return std::unexpected(authorities.error());
  auto* const store = SSL_CTX_get_cert_store(parts.context.get());
  for (int i = 0; i < sk_X509_num(authorities->get()); ++i) {
    auto* const each = sk_X509_value(authorities->get(), i);
    const bool added = X509_STORE_add_cert(store, each) == 1 &&
                       (!sends_names || SSL_CTX_add_client_CA(parts.context.get(), each) == 1);
    if (!added) {
      return failure(errc::malformed, "trust the authorities in '" + file + "'",
                     take_openssl_reason());
    }
  }
  return {};
}

result<std::unique_ptr<parts>> make_parts(tls_version least,
                                          const std::vector<std::string>& protocols) {
  auto made = std::make_unique<parts>();
  ERR_clear_error();
  made->context.reset(SSL_CTX_new(TLS_method()));
  auto* const context = made->context.get();
  const int version = least == tls_version::tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, version) != 1 ||
      SSL_CTX_set_cipher_list(context, ciphers) != 1) {
    return failure(errc::system, "set up TLS", take_openssl_reason());
  }
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_app_data(context, made.get());
  auto wire = protocols_on_wire(protocols);
  if (!wire) return std::unexpected(wire.error());
  made->protocols = std::move(*wire);
  return made;
}

}  // namespace

tls_context::tls_context(std::unique_ptr<parts> parts) : parts_(std::move(parts)) {}

tls_context::~tls_context() = default;

bool tls_context::is_server() const { return parts_->is_server; }

const std::vector<certificate_info>& tls_context::certificates() const {
  return parts_->certificates;
}

result<std::shared_ptr<const tls_context>> tls_context::for_server(
    const tls_server_settings& settings) {
  if (settings.certificates.empty()) {
    return failure(errc::invalid_argument, "listen with TLS", "no certificate is given",
                   "give --cert FILE and --key FILE; 'strata cert make NAME' makes both");
  }
  auto made = make_parts(settings.least, settings.protocols);
  if (!made) return std::unexpected(made.error());
  auto& of = **made;
  of.is_server = true;
  for (const auto& each : settings.certificates) {
    if (auto added = add_identity(of, each); !added) return std::unexpected(added.error());
  }
  if (auto used = use_first_identity(of, settings.certificates.front()); !used) {
    return std::unexpected(used.error());
  }
  auto* const context = of.context.get();
  if (!settings.client_ca.empty()) {
    if (auto done = trust(of, settings.client_ca, true); !done) {
      return std::unexpected(done.error());
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  SSL_CTX_set_session_id_context(context, session_context, sizeof session_context - 1);
  SSL_CTX_set_num_tickets(context, 1);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, seal_ticket);
  SSL_CTX_set_cert_cb(context, choose_identity, nullptr);
  SSL_CTX_set_tlsext_servername_callback(context, accept_name);
  if (!of.protocols.empty()) SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  return std::make_shared<const tls_context>(std::move(*made));
}

result<std::shared_ptr<const tls_context>> tls_context::for_client(
    const tls_client_settings& settings) {
  auto made = make_parts(settings.least, settings.protocols);
  if (!made) return std::unexpected(made.error());
  auto& of = **made;
  of.server_name = settings.server_name;
  of.is_insecure = settings.is_insecure;
  auto* const context = of.context.get();
  const auto& own = settings.certificate;
  if (own.certificate.empty() != own.key.empty()) {
    return failure(errc::invalid_argument, "use a client certificate",
                   "its file or its key's is missing", "give both --client-cert and --client-key");
  }
  if (!own.certificate.empty()) {
    if (auto added = add_identity(of, own); !added) return std::unexpected(added.error());
    if (auto used = use_first_identity(of, own); !used) return std::unexpected(used.error());
  }
  if (!settings.ca.empty()) {
    if (auto done = trust(of, settings.ca, false); !done) return std::unexpected(done.error());
  } else if (SSL_CTX_set_default_verify_paths(context) != 1) {
    return failure(errc::system, "read the system's authorities", take_openssl_reason(),
                   "install ca-certificates or give --ca FILE");
  }
  SSL_CTX_set_verify(context, of.is_insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!of.protocols.empty()) {
    // Unlike its neighbours it returns 0 on success; it fails only for want of memory.
    (void)SSL_CTX_set_alpn_protos(context,
                                  reinterpret_cast<const unsigned char*>(of.protocols.data()),
                                  static_cast<unsigned>(of.protocols.size()));
  }
  return std::make_shared<const tls_context>(std::move(*made));
}

}  // namespace strata::net
