#include "proto/resp/resp_text.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace strata::proto {

namespace {

class text_maker {
 public:
  explicit text_maker(std::string_view replies) : left_(replies) {}

  std::string make() {
    while (!left_.empty() && add(0)) {
    }
    return std::move(text_);
  }

 private:
  // Takes the text up to the next CR LF.
  std::optional<std::string_view> line() {
    const auto end = left_.find("\r\n");
    if (end == std::string_view::npos) return {};
    const auto found = left_.substr(0, end);
    left_.remove_prefix(end + 2);
    return found;
  }

  bool append(std::string_view words) {
    text_ += words;
    text_ += '\n';
    return true;
  }

  bool add_bulk(std::int64_t size, bool is_verbatim) {
    if (size < 0) return append("(nil)");
    const auto bytes = static_cast<std::uint64_t>(size);
    if (left_.size() < bytes + 2) return false;
    auto found = left_.substr(0, bytes);
    left_.remove_prefix(bytes + 2);
    // Its format, such as "txt:", is not for readers.
    if (is_verbatim && found.size() >= 4) found.remove_prefix(4);
    return append(found);
  }

  bool add_elements(std::int64_t count, unsigned depth) {
    if (count < 0) return append("(nil)");
    if (count == 0) return append("(empty)");
    for (; count != 0; --count) {
      if (!add(depth + 1)) return false;
    }
    return true;
  }

  // Adds one reply; returns false if it is incomplete or invalid.
  bool add(unsigned depth) {
    const auto head = line();
    if (!head || head->empty() || depth > max_reply_depth) return false;
    const char mark = head->front();
    const auto rest = head->substr(1);
    std::int64_t number = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
    switch (mark) {
      case '+': return append(rest == "OK" ? "ok" : rest);
      case '-': return append("error: " + std::string(rest));
      case '_': return append("(nil)");
      case '#': return append(rest == "t" ? "true" : "false");
      case '$': return add_bulk(number, false);
      case '=': return add_bulk(number, true);
      case '*':
      case '~':
      case '>': return add_elements(number, depth);
      case '%': return add_elements(number * 2, depth);
      default: return append(rest);
    }
  }

  std::string_view left_;
  std::string text_;
};

}  // namespace

std::string plain_text(std::string_view replies) { return text_maker(replies).make(); }

}  // namespace strata::proto
