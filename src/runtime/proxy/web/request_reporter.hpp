// Counts a gate's HTTP requests, and writes them to the access log.
//
// For one loop's thread; the figures are readable from any.
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
#include "runtime/web/http_tap.hpp"
#include "script/lazy_table.hpp"

namespace strata::runtime::proxy {

/// A request in progress.
struct transit {
  loop::time_point began;
  loop::socket_address client;  ///< as trusted; the connection's peer may differ by now
  std::string tls_subject;
  std::string route = {};                       ///< its text; empty: no route has matched
  std::shared_ptr<branch_figures> branch = {};  ///< the route's, or that of no route
  std::shared_ptr<backend> by = {};             ///< the backend that was tried last
  bool has_answered = false;                    ///< false: the proxy answered in its place
  std::uint64_t retries = 0;
  std::string request_id = {};              ///< empty: it has none
  script::lazy_table* described = nullptr;  ///< the request, for a script
  std::uint64_t mark = 0;                   ///< of the backend that a script has chosen
  http_tap* shown = nullptr;  ///< shows the request in the tap; null if it has no reader
};

class request_reporter {
 public:
  /// The arguments outlive this object.
  request_reporter(counters& counted, proxy_figures& figures)
      : counted_(counted), figures_(figures) {}

  /// Sets where each request is logged; null: nowhere. `log` outlives this object.
  void set_log(access_log* log) { log_ = log; }
  [[nodiscard]] bool has_log() const { return log_ != nullptr; }

  /// A request has arrived.
  void note_begin(loop::time_point now);
  /// It is sent again, to another backend.
  void note_retry(transit& transit);
  /// The request has been answered.
  void note_end(const http::exchange& answered, const transit& transit, loop::time_point now);
  /// The received data was no valid request.
  void note_refused(int status, std::size_t body_bytes, const net::peer_info& client);

 private:
  void count(const http::exchange& answered, const transit& transit, loop::duration took);
  void write(const http::access& access);

  counters& counted_;
  proxy_figures& figures_;
  access_log* log_ = nullptr;
};

}  // namespace strata::runtime::proxy
