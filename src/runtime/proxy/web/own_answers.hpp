// The proxy's own answers, when no backend answers.
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

class own_answers {
 public:
  struct means {
    counters& counted;
    journal& log;
  };
  /// The means outlive this object.
  explicit own_answers(means means) : means_(means) {}

  /// Errors: a page cannot be read; then the present ones stay in use.
  [[nodiscard]] result<void> read_pages(loop::loop& loop, const std::string& folder) {
    return pages_.read(loop, folder);
  }
  /// The body for that status: the page, or else `text`; and its media type.
  [[nodiscard]] std::pair<std::string, std::string> body_of(int status, std::string text) const;
  void answer(http::exchange& exchange, int status, std::string_view text,
              proto::http_fields fields = {});

  /// Answers after the last backend, which has not answered.
  void refuse_after(http::exchange& exchange, const std::string& backend, const error& why);
  /// Logs the reason, which the client does not get.
  void refuse(http::exchange& exchange, int status, const std::string& why);
  void refuse_as_full(http::exchange& exchange, const std::string& why);

 private:
  void note_refusal(const http::exchange& exchange, int status, const std::string& why);

  means means_;
  error_pages pages_;
};

}  // namespace strata::runtime::proxy
