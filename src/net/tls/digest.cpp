#include "net/tls/digest.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cassert>
#include <cstdlib>

namespace strata::net {

namespace {

const unsigned char* octets(byte_span bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

std::array<std::byte, 20> sha1(byte_span bytes) {
  std::array<std::byte, 20> made{};
  unsigned size = 0;
  [[maybe_unused]] const int done =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(made.data()), &size,
                 EVP_sha1(), nullptr);
  assert(done == 1 && size == made.size());
  return made;
}

std::optional<std::string> digest(const std::string& name, byte_span bytes) {
  const auto* const how = EVP_get_digestbyname(name.c_str());
  unsigned char made[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (how == nullptr || EVP_Digest(bytes.data(), bytes.size(), made, &size, how, nullptr) != 1) {
    return std::nullopt;
  }
  return std::string(reinterpret_cast<const char*>(made), size);
}

std::optional<std::string> hmac(const std::string& name, byte_span key, byte_span bytes) {
  const auto* const how = EVP_get_digestbyname(name.c_str());
  unsigned char made[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (how == nullptr || HMAC(how, key.data(), static_cast<int>(key.size()), octets(bytes),
                             bytes.size(), made, &size) == nullptr) {
    return std::nullopt;
  }
  return std::string(reinterpret_cast<const char*>(made), size);
}

std::string random_bytes(std::size_t count) {
  std::string made(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(made.data()), static_cast<int>(count)) != 1) {
    std::abort();
  }
  return made;
}

}  // namespace strata::net
