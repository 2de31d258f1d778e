// What a gate counts of its HTTP requests, and writes into the access log.
//
// For one loop's thread; the figures are read from any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "http/exchange.hpp"
#include "loop/loop.hpp"
#include "runtime/counters.hpp"
#include "runtime/proxy/choice/backend.hpp"
#include "runtime/proxy/choice/figures.hpp"
#include "runtime/web/access_log.hpp"
#include "script/lazy_table.hpp"

namespace strata::runtime {
class http_tap;
}

namespace strata::runtime::proxy {

/// A request on its way.
struct transit {
  loop::time_point began;
  loop::socket_address client;  ///< that is believed; the connection may be another's by now
  std::string tls_subject;
  std::string route = {};                       ///< its text; empty: none has taken it
  std::shared_ptr<branch_figures> branch = {};  ///< the route's, or of what no route takes
  std::shared_ptr<backend> by = {};             ///< that was tried last
  bool has_answered = false;                    ///< the backend has, and not the proxy in its place
  std::uint64_t retries = 0;
  std::string request_id = {};              ///< empty: it has none
  script::lazy_table* described = nullptr;  ///< the request, for a script
  std::uint64_t mark = 0;                   ///< of the backend that a script has chosen
  http_tap* shown = nullptr;                ///< to those who tap the proxy; null: nobody does
};

class ledger {
 public:
  /// They outlive this.
  ledger(counters& counted, proxy_figures& figures) : counted_(counted), figures_(figures) {}

  /// Where a line goes for each request, from now on; null: nowhere. It outlives this.
  void set_log(access_log* log) { log_ = log; }
  [[nodiscard]] bool has_log() const { return log_ != nullptr; }

  /// A request has come.
  void note_begin(loop::time_point now);
  /// It is sent once more, to another backend.
  void note_retry(transit& transit);
  /// It has been answered.
  void note_end(const http::exchange& answered, const transit& transit, loop::time_point now);
  /// What has come was no request.
  void note_refused(int status, std::size_t body_bytes, const net::peer_info& client);

 private:
  void count(const http::exchange& answered, const transit& transit, loop::duration took);
  void write(const http::access& access);

  counters& counted_;
  proxy_figures& figures_;
  access_log* log_ = nullptr;
};

}  // namespace strata::runtime::proxy
