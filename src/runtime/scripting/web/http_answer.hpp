// A script's answer to an HTTP request, checked: it may contain data from a client.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "http/exchange.hpp"
#include "script/lazy_table.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::scripting {

class http_answer {
 public:
  /// Reads a text, or a table of `status`, `headers` and `body` or `json`. Errors: the invalid
  /// part; `text` is the name of the function that returned it.
  [[nodiscard]] static result<http_answer> read(const nlohmann::json& value, std::string_view text);

  [[nodiscard]] std::size_t body_size() const { return body_.size(); }
  /// Sends the answer. The object is unusable afterwards.
  void send(http::exchange& exchange);
  /// Begins an answer whose body follows in pieces. Returns false if its status allows no body.
  bool begin(http::exchange& exchange);

 private:
  result<void> take(const nlohmann::json& value);
  bool take_body(const nlohmann::json& value);
  void say_type();

  http::answer_head head_;
  std::string body_;
  std::string type_;
  bool has_type_ = false;
};

/// A request as a table for scripts. `body`: the part of the body that was read.
[[nodiscard]] nlohmann::json table_of(const http::exchange& exchange, const std::string& body);

/// The same without a body, read on demand. The request outlives it.
class lazy_request final : public script::lazy_table {
 public:
  explicit lazy_request(const http::exchange& exchange) : asked_(exchange) {}
  [[nodiscard]] nlohmann::json field(std::string_view name) const override;
  bool give_texts(std::string_view name, script::text_table& table) const override;

 private:
  const http::exchange& asked_;
};

/// The content type of the program's own answers.
inline constexpr std::string_view plain_answer = "text/plain; charset=utf-8";

}  // namespace strata::runtime::scripting
