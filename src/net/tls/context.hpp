// The shared state of TLS connections of one kind: certificates, trust, versions. Immutable once
// made, and shared by loops and threads. Changed files need a new one; connections keep theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/tls/certificate.hpp"
#include "strata/base/result.hpp"

namespace strata::net {

enum class tls_version : std::uint8_t { tls_1_2, tls_1_3 };

/// PEM files. The certificate's file also holds the chain, behind the certificate.
struct tls_key_pair {
  std::string certificate;
  std::string key;
};

struct tls_server_settings {
  /// The client's server name selects the certificate; the first is the default.
  std::vector<tls_key_pair> certificates;
  /// A file of authorities. If set, a client needs a certificate of one of them.
  std::string client_ca = {};
  tls_version least = tls_version::tls_1_2;
  /// Protocols for ALPN, in order of preference; empty: none are negotiated.
  std::vector<std::string> protocols = {};
};

struct tls_client_settings {
  /// A file of authorities; empty: those that the system trusts.
  std::string ca = {};
  /// The name that the server's certificate must have; empty: the URL's host.
  std::string server_name = {};
  tls_key_pair certificate = {};  ///< the client's own, if it has one
  bool is_insecure = false;       ///< accepts any certificate of the server
  tls_version least = tls_version::tls_1_2;
  std::vector<std::string> protocols = {};
};

class tls_context {
 public:
  /// Makes a server's context. Errors: name the faulty file, the reason and the remedy.
  [[nodiscard]] static result<std::shared_ptr<const tls_context>> for_server(
      const tls_server_settings& settings);
  [[nodiscard]] static result<std::shared_ptr<const tls_context>> for_client(
      const tls_client_settings& settings);

  struct parts;  // context_parts.hpp
  explicit tls_context(std::unique_ptr<parts> parts);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

  [[nodiscard]] bool is_server() const;
  /// The context's own certificates, the first of each file.
  [[nodiscard]] const std::vector<certificate_info>& certificates() const;
  [[nodiscard]] const parts& inner() const { return *parts_; }

 private:
  std::unique_ptr<parts> parts_;
};

}  // namespace strata::net
