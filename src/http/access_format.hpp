// The format of an access log line: that of Apache and nginx, JSON, or a custom text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "http/access_line.hpp"
#include "strata/base/result.hpp"

namespace strata::http {

class access_format {
 public:
  /// Parses `combined`, `json`, or a text in which `%{status}` and other names stand for the
  /// request's values. Errors: invalid_argument, naming the fault in the text.
  [[nodiscard]] static result<access_format> parse(const std::string& text);

  /// Formats one line, without its line end. Data from clients cannot end the line, or a quoted
  /// text in it.
  [[nodiscard]] std::string line(const access& access) const;

 private:
  enum class form : std::uint8_t { combined, json, own };
  /// A named value, and the text before it.
  struct piece {
    std::string before;
    std::size_t field;
  };

  form form_ = form::combined;
  std::vector<piece> pieces_;
  std::string rest_;
};

}  // namespace strata::http
