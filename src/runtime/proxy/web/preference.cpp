#include "runtime/proxy/web/preference.hpp"

#include <algorithm>
#include <optional>

#include "runtime/proxy/choice/sticky.hpp"
#include "runtime/proxy/web/route.hpp"

namespace strata::runtime::proxy {

wish wish_of(http::exchange& exchange, const balancing& balancing) {
  const auto& request = exchange.request();
  wish what{.how = balancing.how, .client_left = [&exchange] { return exchange.client_left(); }};
  std::optional<std::string_view> found;
  std::string path;
  if (what.how == balance::header) found = request.header(balancing.name);
  if (what.how == balance::cookie) found = find_cookie(request.headers, balancing.name);
  if (what.how == balance::path) found = path = plain_path(request.path);
  if (found) {
    what.key = key_of(*found);
  } else if (what.how == balance::source || is_of_requests(what.how)) {
    what.key = key_of(exchange.peer().address);
  }
  return what;
}

std::vector<std::uint64_t> marks_of(const proto::http_request& request, std::string_view name) {
  if (name.empty()) return {};
  return read_marks(find_cookie(request.headers, name).value_or(""));
}

std::string cookie_for(const sticky_cookie& cookie, const backend& backend, const backends& among,
                       const std::vector<std::uint64_t>& marks) {
  const bool is_known = std::ranges::find(marks, backend.mark) != marks.end();
  if (is_known) return {};
  std::vector<std::uint64_t> next = {backend.mark};
  for (const auto mark : marks) {
    const auto& all = among.all();
    const bool is_ours =
        std::ranges::any_of(all, [mark](const backend_ref& one) { return one->mark == mark; });
    if (!is_ours) next.push_back(mark);
  }
  return cookie_text(cookie.name, next, cookie.is_secure);
}

}  // namespace strata::runtime::proxy
