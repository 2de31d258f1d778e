// What the proxy answers where no backend does.
//
// For one loop's thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "http/exchange.hpp"
#include "runtime/counters.hpp"
#include "runtime/journal.hpp"
#include "runtime/proxy/web/error_pages.hpp"

namespace strata::runtime::proxy {

class own_words {
 public:
  struct means {
    counters& counted;
    journal& log;
  };
  /// What it is given outlives it.
  explicit own_words(means means) : means_(means) {}

  /// Errors: of a page that cannot be read; then they are as before.
  [[nodiscard]] result<void> read_pages(loop::loop& loop, const std::string& folder) {
    return pages_.read(loop, folder);
  }
  /// What is said with that status: the page, or else `words`; and of which type it is.
  [[nodiscard]] std::pair<std::string, std::string> of(int status, std::string words) const;
  void say(http::exchange& exchange, int status, std::string_view words,
           proto::http_fields fields = {});

  /// That backend was the last, and has not answered.
  void refuse_after(http::exchange& exchange, const std::string& backend, const error& why);
  /// The log says why, the client does not learn it.
  void refuse(http::exchange& exchange, int status, const std::string& why);
  void refuse_as_full(http::exchange& exchange, const std::string& why);

 private:
  void note_refusal(const http::exchange& exchange, int status, const std::string& why);

  means means_;
  error_pages pages_;
};

}  // namespace strata::runtime::proxy
