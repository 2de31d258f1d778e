// Shows the heads of an HTTP exchange to those who tap its runtime.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/exchange.hpp"
#include "runtime/tap.hpp"

namespace strata::runtime {

/// Shows the request when it is made, and the answer when its head is sent. A credential in a field
/// Authorization or Proxy-Authorization is not shown.
class http_tap final : private http::answer_watcher {
 public:
  /// Null while nobody taps. `tap`, `name` (the runtime's) and `exchange` outlive it.
  [[nodiscard]] static std::unique_ptr<http_tap> open(tap& tap, const std::string& name,
                                                      http::exchange& exchange);
  http_tap(tap& tap, const std::string& name, http::exchange& exchange);
  http_tap(const http_tap&) = delete;
  http_tap& operator=(const http_tap&) = delete;
  ~http_tap() { exchange_.watch(nullptr); }

  /// The answer comes from this endpoint; until it is set, from the runtime.
  void set_origin(std::string_view endpoint) { origin_ = endpoint; }

 private:
  void on_answer(std::string_view head) override;
  void show(tapped_form form, std::string_view head);

  tap& tap_;
  http::exchange& exchange_;
  std::string address_;  // an exchange that is upgraded has no peer any more
  std::string origin_;
};

}  // namespace strata::runtime
