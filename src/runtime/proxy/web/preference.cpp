#include "runtime/proxy/web/preference.hpp"

#include <algorithm>
#include <optional>

#include "runtime/proxy/choice/sticky.hpp"
#include "runtime/proxy/web/route.hpp"

namespace strata::runtime::proxy {

wish wish_of(http::exchange& now, const balancing& by) {
  const auto& request = now.request();
  wish what{.how = by.how, .client_left = [&now] { return now.client_left(); }};
  std::optional<std::string_view> found;
  std::string path;
  if (what.how == balance::header) found = request.header(by.name);
  if (what.how == balance::cookie) found = find_cookie(request.headers, by.name);
  if (what.how == balance::path) found = path = plain_path(request.path);
  if (found) {
    what.key = key_of(*found);
  } else if (what.how == balance::source || is_of_requests(what.how)) {
    what.key = key_of(now.peer().address);
  }
  return what;
}

std::vector<std::uint64_t> marks_of(const proto::http_request& request, std::string_view name) {
  if (name.empty()) return {};
  return read_marks(find_cookie(request.headers, name).value_or(""));
}

std::string cookie_for(const sticky_cookie& is, const backend& at, const backends& among,
                       const std::vector<std::uint64_t>& marks) {
  const bool is_known = std::ranges::find(marks, at.mark) != marks.end();
  if (is_known) return {};
  std::vector<std::uint64_t> next = {at.mark};
  for (const auto mark : marks) {
    const auto& all = among.all();
    const bool is_ours =
        std::ranges::any_of(all, [mark](const backend_ref& one) { return one->mark == mark; });
    if (!is_ours) next.push_back(mark);
  }
  return cookie_text(is.name, next, is.is_secure);
}

}  // namespace strata::runtime::proxy
