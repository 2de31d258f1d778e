// The contents of a TLS context. For net/tls alone.
#pragma once

#include <string>
#include <vector>

#include "net/tls/context.hpp"
#include "net/tls/openssl.hpp"
#include "net/tls/ticket_keys.hpp"

namespace strata::net {

struct tls_context::parts {
  struct identity {
    x509_pointer certificate;
    key_pointer key;
    x509_stack chain;
  };

  ssl_context_pointer context;
  bool is_server = false;
  bool is_insecure = false;
  std::string server_name;
  std::string protocols;  // in ALPN's wire format
  std::vector<identity> identities;
  std::vector<certificate_info> certificates;
  ticket_keys tickets;
};

}  // namespace strata::net
