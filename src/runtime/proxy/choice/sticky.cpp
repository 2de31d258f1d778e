#include "runtime/proxy/choice/sticky.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace strata::runtime::proxy {

namespace {

constexpr std::size_t most_marks = 8;
constexpr std::size_t mark_size = 16;

/// Cuts off and returns the text before the next `mark`.
std::string_view cut(std::string_view& text, char mark) {
  const auto end = std::min(text.find(mark), text.size());
  const auto found = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return found;
}

}  // namespace

std::optional<std::string_view> find_cookie(const proto::http_fields& fields,
                                            std::string_view name) {
  for (const auto& [field, value] : fields) {
    if (field != "cookie") continue;
    for (std::string_view left = value; !left.empty();) {
      auto pair = cut(left, ';');
      while (pair.starts_with(' ')) pair.remove_prefix(1);
      const auto sign = pair.find('=');
      if (sign != std::string_view::npos && pair.substr(0, sign) == name) {
        return pair.substr(sign + 1);
      }
    }
  }
  return std::nullopt;
}

std::vector<std::uint64_t> read_marks(std::string_view value) {
  std::vector<std::uint64_t> marks;
  while (!value.empty() && marks.size() < most_marks) {
    const auto text = cut(value, '.');
    const auto* const end = text.data() + text.size();
    std::uint64_t mark = 0;
    const auto [last, code] = std::from_chars(text.data(), end, mark, 16);
    if (text.size() == mark_size && code == std::errc{} && last == end) marks.push_back(mark);
  }
  return marks;
}

std::string cookie_text(std::string_view name, const std::vector<std::uint64_t>& marks,
                        bool is_secure) {
  std::string value;
  for (std::size_t at = 0; at < std::min(marks.size(), most_marks); ++at) {
    value += fmt::format("{}{:016x}", at == 0 ? "" : ".", marks[at]);
  }
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax{}", name, value,
                     is_secure ? "; Secure" : "");
}

}  // namespace strata::runtime::proxy
