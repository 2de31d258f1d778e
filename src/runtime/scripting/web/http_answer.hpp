// An answer to an HTTP request that a script gives, checked: it may be made of what a client says.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "http/exchange.hpp"
#include "script/lazy_table.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::scripting {

class http_answer {
 public:
  /// A text, or a table of `status`, `headers` and `body` or `json`. Errors: what it may not be;
  /// `text` is the function that gave it.
  [[nodiscard]] static result<http_answer> read(const nlohmann::json& value, std::string_view text);

  [[nodiscard]] std::size_t body_size() const { return body_.size(); }
  /// It is of no use after that.
  void send(http::exchange& exchange);
  /// Begins an answer whose body follows in pieces. False: one of its status has none.
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

/// A request as scripts see it. `body`: what has been read of it.
[[nodiscard]] nlohmann::json table_of(const http::exchange& exchange, const std::string& body);

/// The same without a body, read when it is asked for. The request outlives it.
class lazy_request final : public script::lazy_table {
 public:
  explicit lazy_request(const http::exchange& exchange) : asked_(exchange) {}
  [[nodiscard]] nlohmann::json field(std::string_view name) const override;
  bool give_texts(std::string_view name, script::text_table& table) const override;

 private:
  const http::exchange& asked_;
};

/// Of what the program itself says where a script does not.
inline constexpr std::string_view plain_answer = "text/plain; charset=utf-8";

}  // namespace strata::runtime::scripting
