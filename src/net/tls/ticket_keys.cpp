#include "net/tls/ticket_keys.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>

namespace strata::net {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

constexpr auto key_life = 1h;
constexpr std::size_t kept_keys = 3;

}  // namespace

bool ticket_keys::current(key& destination, steady_clock::time_point now) {
  const std::lock_guard guard(lock_);
  if (keys_.empty() || now - keys_.front().made >= key_life) {
    key made{.made = now};
    if (RAND_bytes(made.name.data(), name_size) != 1) return false;
    if (RAND_priv_bytes(made.cipher.data(), key_size) != 1) return false;
    if (RAND_priv_bytes(made.mac.data(), key_size) != 1) return false;
    keys_.push_front(made);
    if (keys_.size() > kept_keys) keys_.pop_back();
  }
  destination = keys_.front();
  return true;
}

bool ticket_keys::find(const unsigned char* name, finding& finding, steady_clock::time_point now) {
  const std::lock_guard guard(lock_);
  for (const auto& each : keys_) {
    if (!std::equal(each.name.begin(), each.name.end(), name)) continue;
    if (now - each.made >= key_life * kept_keys) return false;
    finding = {each, &each == &keys_.front()};
    return true;
  }
  return false;
}

int use_ticket_key(ticket_keys& keys, unsigned char* name, unsigned char* iv,
                   EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, bool sealing) {
  ticket_keys::finding with{};
  if (sealing) {
    if (!keys.current(with.found, steady_clock::now())) return -1;
    with.is_current = true;
    std::ranges::copy(with.found.name, name);
    if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1) return -1;
  } else if (!keys.find(name, with, steady_clock::now())) {
    return 0;
  }
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 3> how = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, with.found.mac.data(),
                                        ticket_keys::key_size),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  if (EVP_MAC_CTX_set_params(mac, how.data()) != 1) return -1;
  const int done = EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nullptr, with.found.cipher.data(),
                                     iv, sealing ? 1 : 0);
  if (done != 1) return -1;
  return with.is_current ? 1 : 2;
}

}  // namespace strata::net
