#include "http/files/folder_listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "http/http_date.hpp"
#include "text/percent.hpp"
#include "text/readable.hpp"

namespace strata::http {

namespace {

using open_folder = std::unique_ptr<DIR, decltype([](DIR* folder) { ::closedir(folder); })>;

std::string in_html(std::string_view text) {
  std::string escaped;
  for (const char each : text::printable(text)) {
    switch (each) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += each;
    }
  }
  return escaped;
}

// Describes an item. A link is shown as its target, if that would be served.
bool look_at(const file_root& root, std::string_view relative, int folder, folder_item& item) {
  struct stat of{};
  if (::fstatat(folder, item.name.c_str(), &of, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (S_ISLNK(of.st_mode)) {
    const auto path = relative.empty() ? item.name : fmt::format("{}/{}", relative, item.name);
    const auto behind = root.open_below(path);
    if (!behind) return false;
    item.is_folder = behind->is_folder;
    item.size = behind->version.size;
    item.modified_s = behind->version.modified_s();
    return true;
  }
  item.is_folder = S_ISDIR(of.st_mode);
  item.size = static_cast<std::uint64_t>(of.st_size);
  item.modified_s = of.st_mtim.tv_sec;
  return item.is_folder || S_ISREG(of.st_mode);
}

}  // namespace

std::vector<folder_item> list_folder(const file_root& root, std::string_view relative,
                                     const opened_file& folder) {
  std::vector<folder_item> items;
  const int again = ::fcntl(folder.fd.get(), F_DUPFD_CLOEXEC, 0);
  if (again < 0) return items;
  const open_folder reading(::fdopendir(again));
  if (!reading) {
    ::close(again);
    return items;
  }
  while (items.size() < most_items) {
    const auto* const next = ::readdir(reading.get());
    if (next == nullptr) break;
    folder_item item{.name = static_cast<const char*>(next->d_name)};
    const bool is_hidden = item.name.starts_with('.');
    if (!is_hidden && look_at(root, relative, again, item)) items.push_back(std::move(item));
  }
  std::ranges::sort(items, {}, [](const folder_item& item) {
    return std::tuple<bool, std::string_view>(!item.is_folder, item.name);
  });
  return items;
}

std::string listing_page(std::string_view path, const std::vector<folder_item>& items) {
  const auto title = in_html(path);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{0}</title></head>\n"
      "<body><h1>{0}</h1>\n<table>\n",
      title);
  auto to = std::back_inserter(page);
  if (path != "/") fmt::format_to(to, "<tr><td><a href=\"../\">../</a></td></tr>\n");
  for (const auto& each : items) {
    const auto* const slash = each.is_folder ? "/" : "";
    fmt::format_to(to, "<tr><td><a href=\"./{}{}\">{}{}</a></td><td>{}</td><td>{}</td></tr>\n",
                   text::percent_encode(each.name), slash, in_html(each.name), slash,
                   each.is_folder ? "" : text::format_size(static_cast<double>(each.size)),
                   date_text(each.modified_s));
  }
  page += "</table>\n";
  if (items.size() == most_items) page += "<p>There is more.</p>\n";
  page += "</body></html>\n";
  return page;
}

std::string listing_json(std::string_view path, const std::vector<folder_item>& items) {
  auto all = nlohmann::json::array();
  for (const auto& each : items) {
    nlohmann::json one = {{"name", each.name},
                          {"type", each.is_folder ? "folder" : "file"},
                          {"modified", date_text(each.modified_s)}};
    if (!each.is_folder) one["size"] = each.size;
    all.push_back(std::move(one));
  }
  const nlohmann::json whole = {{"path", path}, {"items", std::move(all)}};
  // A file name may be any bytes.
  return whole.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace strata::http
