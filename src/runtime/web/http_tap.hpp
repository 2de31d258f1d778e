// Shows the heads of an HTTP exchange in the tap of its runtime.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/exchange.hpp"
#include "runtime/tap.hpp"

namespace strata::runtime {

/// Shows the request when it is constructed, and the answer when its head is sent. Credentials in
/// Authorization and Proxy-Authorization fields are redacted.
class http_tap final : private http::answer_watcher {
 public:
  /// Null if the tap has no reader. `name` is the runtime's; `tap` and `exchange` outlive the
  /// result.
  [[nodiscard]] static std::unique_ptr<http_tap> open(tap& tap, const std::string& name,
                                                      http::exchange& exchange);
  http_tap(tap& tap, const std::string& name, http::exchange& exchange);
  http_tap(const http_tap&) = delete;
  http_tap& operator=(const http_tap&) = delete;
  ~http_tap() { exchange_.watch(nullptr); }

  /// Sets the endpoint that the answer comes from; before, it is the runtime.
  void set_origin(std::string_view endpoint) { origin_ = endpoint; }

 private:
  void on_answer(std::string_view head) override;
  void show(tapped_form form, std::string_view head);

  tap& tap_;
  http::exchange& exchange_;
  std::uint64_t client_;
  std::string address_;  // an upgraded exchange has no peer
  std::string_view protocol_;
  std::string origin_;
};

}  // namespace strata::runtime
