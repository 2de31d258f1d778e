#include "http/files/media_types.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace strata::http {

namespace {

constexpr std::size_t longest_ending = 16;

// The usual types of a web site, for systems without a table.
constexpr std::pair<std::string_view, std::string_view> built_in[] = {
    {"html", "text/html"},       {"htm", "text/html"},
    {"css", "text/css"},         {"js", "text/javascript"},
    {"mjs", "text/javascript"},  {"txt", "text/plain"},
    {"md", "text/markdown"},     {"csv", "text/csv"},
    {"xml", "application/xml"},  {"json", "application/json"},
    {"map", "application/json"}, {"webmanifest", "application/manifest+json"},
    {"svg", "image/svg+xml"},    {"png", "image/png"},
    {"jpg", "image/jpeg"},       {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},        {"webp", "image/webp"},
    {"avif", "image/avif"},      {"ico", "image/vnd.microsoft.icon"},
    {"woff", "font/woff"},       {"woff2", "font/woff2"},
    {"ttf", "font/ttf"},         {"wasm", "application/wasm"},
    {"pdf", "application/pdf"},  {"zip", "application/zip"},
    {"gz", "application/gzip"},  {"mp4", "video/mp4"},
    {"webm", "video/webm"},      {"mp3", "audio/mpeg"},
    {"ogg", "audio/ogg"},        {"wav", "audio/x-wav"},
};

bool is_text(std::string_view type) {
  return type.starts_with("text/") || type == "application/javascript";
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (auto& each : lower) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return lower;
}

}  // namespace

media_types::media_types(std::string_view table) {
  for (const auto& [ending, type] : built_in) set(ending, type);
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string type;
    if (!(words >> type) || !type.contains('/')) continue;
    for (std::string ending; words >> ending;) set(ending, type);
  }
}

const media_types& media_types::of_system() {
  static const auto read = [] {
    std::ifstream file("/etc/mime.types");
    std::ostringstream text;
    if (file) text << file.rdbuf();
    return media_types(text.view());
  }();
  return read;
}

void media_types::set(std::string_view ending, std::string_view type) {
  std::string whole(type);
  if (is_text(type)) whole += "; charset=utf-8";
  by_ending_.insert_or_assign(in_lower_case(ending), std::move(whole));
}

std::string_view media_types::of(std::string_view name) const {
  static constexpr std::string_view unknown = "application/octet-stream";
  name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || name.size() - dot > longest_ending) return unknown;
  const auto found = by_ending_.find(in_lower_case(name.substr(dot + 1)));
  return found == by_ending_.end() ? unknown : found->second;
}

bool is_compressible(std::string_view type) {
  static constexpr std::string_view others[] = {"application/javascript",
                                                "application/json",
                                                "application/xml",
                                                "application/wasm",
                                                "font/ttf",
                                                "font/otf",
                                                "image/bmp",
                                                "image/vnd.microsoft.icon"};
  type = type.substr(0, type.find(';'));
  return type.starts_with("text/") || type.ends_with("+xml") || type.ends_with("+json") ||
         std::ranges::find(others, type) != std::end(others);
}

}  // namespace strata::http
