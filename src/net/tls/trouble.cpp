#include "net/tls/trouble.hpp"

#include <openssl/err.h>
#include <openssl/sslerr.h>

#include "net/tls/certificate_file.hpp"
#include "net/tls/session_state.hpp"

namespace strata::net {

namespace {

struct known_reason {
  int code;
  const char* text;
};

// clang-format off
constexpr known_reason known_reasons[] = {
    {SSL_R_HTTP_REQUEST, "the peer speaks HTTP without TLS"},
    {SSL_R_HTTPS_PROXY_REQUEST, "the peer speaks HTTP without TLS"},
    {SSL_R_WRONG_VERSION_NUMBER, "the peer does not speak TLS"},
    {SSL_R_UNSUPPORTED_PROTOCOL, "no version of TLS that the peer offers is allowed"},
    {SSL_R_NO_PROTOCOLS_AVAILABLE, "no version of TLS that the peer offers is allowed"},
    {SSL_R_NO_SHARED_CIPHER, "the peer and we have no cipher in common"},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "the peer has no certificate, but needs one"},
    {SSL_R_NO_APPLICATION_PROTOCOL, "the peer and we have no application protocol in common"},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA, "the peer does not trust the authority of our certificate"},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, "the peer refuses our certificate"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "the peer finds our certificate expired"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, "the peer refuses our certificate"},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, "the peer refuses the handshake"},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "the peer refuses our versions of TLS"},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, "the peer requires a certificate from us"},
    {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, "a record was altered in transit"},
};
// clang-format on

std::string take_reason() {
  const auto code = ERR_GET_REASON(ERR_peek_error());
  for (const auto& each : known_reasons) {
    if (ERR_GET_LIB(ERR_peek_error()) != ERR_LIB_SSL || each.code != code) continue;
    ERR_clear_error();
    return each.text;
  }
  return take_openssl_reason();
}

std::string names_text(const certificate_info& shown) {
  std::string text;
  for (const auto& each : shown.names) text += (text.empty() ? "" : ", ") + each;
  return text.empty() ? shown.subject : text;
}

// Describes a refused certificate, and what its owner or the user can do.
error refusal(std::string operation, long why, X509* certificate) {
  error made{.code = errc::permission_denied,
             .operation = std::move(operation),
             .reason = {},
             .remedy = {},
             .offset = {}};
  const auto shown = certificate == nullptr ? certificate_info{} : info_of(*certificate, {});
  switch (why) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      made.reason = "its certificate is for " + names_text(shown);
      made.remedy = "connect to that name, or give it with --servername";
      break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      made.reason = "its certificate expired on " + format_date(shown.not_after);
      made.remedy = "its owner needs a new one";
      break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      made.reason = "its certificate is not valid before " + format_date(shown.not_before);
      made.remedy = "check the clock of this machine";
      break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      made.reason = "the authority of its certificate is not trusted: " + shown.issuer;
      made.remedy = "give the certificate of its authority with --ca FILE";
      break;
    default: made.reason = X509_verify_cert_error_string(why);
  }
  return made;
}

}  // namespace

error handshake_trouble(const tls_session::state& state) {
  const auto why = SSL_get_verify_result(state.ssl.get());
  const bool is_server = state.by->is_server();
  auto operation =
      is_server ? "complete the TLS handshake" : "complete the TLS handshake with " + state.host;
  if (why != X509_V_OK && SSL_get_verify_mode(state.ssl.get()) != SSL_VERIFY_NONE) {
    ERR_clear_error();
    auto made = refusal(std::move(operation), why, state.refused.get());
    // The remedy so far is one for a client; a server's differs.
    if (is_server) made.remedy = "a client needs a certificate of the authority in --client-ca";
    return made;
  }
  return {.code = errc::malformed,
          .operation = std::move(operation),
          .reason = take_reason(),
          .remedy = {},
          .offset = {}};
}

std::string reading_trouble() { return take_reason(); }

}  // namespace strata::net
