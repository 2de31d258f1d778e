#include "text/json_text.hpp"

#include <nlohmann/json.hpp>

namespace strata::text {

namespace {

using nlohmann::json;

/// Checks the syntax and the depth of nesting without creating values.
class depth_check {
 public:
  // The callbacks of nlohmann's parser.
  static bool null() { return true; }
  static bool boolean(bool) { return true; }
  static bool number_integer(json::number_integer_t) { return true; }
  static bool number_unsigned(json::number_unsigned_t) { return true; }
  static bool number_float(json::number_float_t, const json::string_t&) { return true; }
  static bool string(json::string_t&) { return true; }
  static bool binary(json::binary_t&) { return true; }
  static bool key(json::string_t&) { return true; }
  bool start_object(std::size_t) { return enter(); }
  bool start_array(std::size_t) { return enter(); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) {
    // The parser counts from one, and the end as one byte more.
    wrong_at_ = position == 0 ? 0 : position - 1;
    return false;
  }

  [[nodiscard]] bool is_too_deep() const { return depth_ > deepest_json; }
  [[nodiscard]] std::size_t wrong_at() const { return wrong_at_; }

 private:
  bool enter() {
    ++depth_;
    return !is_too_deep();
  }
  bool leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  std::size_t wrong_at_ = 0;
};

}  // namespace

result<json> parse_json(std::string_view text, const std::string& operation) {
  depth_check check;
  if (json::sax_parse(text, &check)) return json::parse(text, nullptr, false);
  if (check.is_too_deep()) {
    return failure(errc::malformed, operation,
                   "its JSON is nested deeper than " + std::to_string(deepest_json) + " levels");
  }
  auto wrong = failure(errc::malformed, operation, "it is not valid JSON");
  wrong.error().offset = check.wrong_at();
  return wrong;
}

std::string write_json(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace strata::text
