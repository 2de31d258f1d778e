// How a line of an access log is written: as Apache and nginx do it, as JSON, or as somebody wants
// it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "http/access_line.hpp"
#include "strata/base/result.hpp"

namespace strata::http {

class access_format {
 public:
  /// `combined`, `json`, or text in which `%{status}` and the like stand for what a request was.
  /// Errors: invalid_argument, naming what is wrong with the text.
  [[nodiscard]] static result<access_format> parse(const std::string& text);

  /// One line, without its end. What strangers have said cannot end it, nor quotes in it.
  [[nodiscard]] std::string line(const access& access) const;

 private:
  enum class form : std::uint8_t { combined, json, own };
  /// A name's value, and the text before it.
  struct piece {
    std::string before;
    std::size_t field;
  };

  form form_ = form::combined;
  std::vector<piece> pieces_;
  std::string rest_;
};

}  // namespace strata::http
