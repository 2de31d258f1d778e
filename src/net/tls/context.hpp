// What TLS connections of one kind have in common: certificates, trust, versions. Immutable once it
// is made, and shared by loops and threads. New files make a new one; connections keep theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/tls/certificate.hpp"
#include "strata/base/result.hpp"

namespace strata::net {

enum class tls_version : std::uint8_t { tls_1_2, tls_1_3 };

/// PEM files. The certificate's file holds the chain too, behind the certificate.
struct tls_key_pair {
  std::string certificate;
  std::string key;
};

struct tls_server_settings {
  /// Which is shown follows from the name that the client asks for; without a match, the first.
  std::vector<tls_key_pair> certificates;
  /// A file of authorities. Set: a client needs a certificate of one of them.
  std::string client_ca = {};
  tls_version least = tls_version::tls_1_2;
  /// Protocols for ALPN, the best first; empty: none are negotiated.
  std::vector<std::string> protocols = {};
};

struct tls_client_settings {
  /// A file of authorities; empty: those that the system trusts.
  std::string ca = {};
  /// The name that the server's certificate is to have; empty: that of the URL.
  std::string server_name = {};
  tls_key_pair certificate = {};  ///< the client's own, if it has one
  bool is_insecure = false;       ///< takes whatever certificate the server shows
  tls_version least = tls_version::tls_1_2;
  std::vector<std::string> protocols = {};
};

class tls_context {
 public:
  /// Errors: name the file that is wrong, why, and what to do.
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
  /// Its own, each file's first.
  [[nodiscard]] const std::vector<certificate_info>& certificates() const;
  [[nodiscard]] const parts& inner() const { return *parts_; }

 private:
  std::unique_ptr<parts> parts_;
};

}  // namespace strata::net
