// The keys that seal session tickets: one for all loops, replaced every hour. A ticket sealed with
// one of the two previous keys still resumes its session, and is renewed.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <chrono>
#include <deque>
#include <mutex>

namespace strata::net {

class ticket_keys {
 public:
  static constexpr std::size_t name_size = 16;
  static constexpr std::size_t key_size = 32;

  struct key {
    std::array<unsigned char, name_size> name;
    std::array<unsigned char, key_size> cipher;
    std::array<unsigned char, key_size> mac;
    std::chrono::steady_clock::time_point made;
  };
  struct finding {
    key found;
    bool is_current;
  };

  /// Returns the key for a new ticket. From any thread. False: no random bytes are available.
  [[nodiscard]] bool current(key& destination, std::chrono::steady_clock::time_point now);
  /// Finds the key of that 16-byte name; false if it is too old or unknown.
  [[nodiscard]] bool find(const unsigned char* name, finding& finding,
                          std::chrono::steady_clock::time_point now);

 private:
  std::mutex lock_;
  std::deque<key> keys_;  // newest first
};

/// As `SSL_CTX_set_tlsext_ticket_key_evp_cb` requires, for contexts whose app data holds the keys.
int use_ticket_key(ticket_keys& keys, unsigned char* name, unsigned char* iv,
                   EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, bool sealing);

}  // namespace strata::net
