// Which clients a cache serves: what its options say of that, for the acceptors on all its loops.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/cache/options.hpp"
#include "runtime/counters.hpp"
#include "runtime/journal.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime::cache {

/// The options are set on the engine's loop, and are in force on all loops at once: a client that
/// comes after the answer to CONFIG SET is judged by them.
class admission {
 public:
  explicit admission(const cache_options& options) : introducers_(options.proxy_protocol) {
    heed(options);
  }
  void heed(const cache_options& options);

  /// Returns settings of an acceptor that turns clients away, and counts and logs them; what is
  /// left is how clients are served. `on_rejected` is called for each client that is turned away,
  /// on the acceptor's loop. This object and the arguments outlive the settings. From any thread.
  [[nodiscard]] serve::acceptor_settings settings(serve::connection_gauge& connections,
                                                  counters& counted, journal& log,
                                                  std::function<void()> on_rejected) const;

 private:
  /// Returns why a client is turned away, for the client; empty if it is served.
  [[nodiscard]] std::string objection_to(const net::stream& arrived) const;

  const std::vector<std::string> introducers_;
  std::atomic<std::uint64_t> max_connections_ = 0;
  std::atomic<bool> serves_strangers_ = false;
  std::atomic<double> handshake_timeout_s_ = 0;
};

}  // namespace strata::runtime::cache
