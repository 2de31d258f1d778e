#include "net/tls/digest.hpp"

#include <openssl/evp.h>

#include <cassert>

namespace strata::net {

std::array<std::byte, 20> sha1(byte_span bytes) {
  std::array<std::byte, 20> made{};
  unsigned size = 0;
  [[maybe_unused]] const int done =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(made.data()), &size,
                 EVP_sha1(), nullptr);
  assert(done == 1 && size == made.size());
  return made;
}

}  // namespace strata::net
