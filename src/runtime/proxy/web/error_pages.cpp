#include "runtime/proxy/web/error_pages.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "loop/file_store.hpp"

namespace strata::runtime::proxy {

namespace {

// The statuses of the proxy's own answers.
constexpr std::array statuses = {400, 403, 404, 408, 413, 429, 501, 502, 503, 504, 508};

}  // namespace

result<void> error_pages::read(loop::loop& loop, const std::string& folder) {
  std::map<int, std::string> found;
  for (const int status : statuses) {
    if (folder.empty()) break;
    const auto path = fmt::format("{}/{}.html", folder, status);
    if (!loop.files().exists(path)) continue;
    const auto opened = loop.files().open(path);
    if (!opened) return std::unexpected(opened.error());
    const auto bytes = (*opened)->bytes();
    if (bytes.size() > longest) {
      return failure(
          errc::limit_exceeded, "read the error page '" + path + "'",
          fmt::format("it has {} bytes, but at most {} are permitted", bytes.size(), longest),
          "make it shorter");
    }
    found.emplace(status, bytes);
  }
  if (!folder.empty() && found.empty()) {
    return failure(errc::not_found, "read the error pages in '" + folder + "'", "there is none",
                   "put 502.html, 503.html, 404.html or the like there");
  }
  pages_ = std::move(found);
  return {};
}

const std::string* error_pages::of(int status) const {
  const auto known = pages_.find(status);
  return known == pages_.end() ? nullptr : &known->second;
}

}  // namespace strata::runtime::proxy
