#include "http/files/request_path.hpp"

namespace strata::http {

namespace {

// Linux's own limits (NAME_MAX, PATH_MAX).
constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_path = 4000;

bool has_encoded_slash(std::string_view target) {
  target = target.substr(0, target.find('?'));
  for (auto at = target.find('%'); at != std::string_view::npos; at = target.find('%', at + 1)) {
    const auto code = target.substr(at + 1, 2);
    if (code == "2f" || code == "2F") return true;
  }
  return false;
}

// Browsers read a backslash as a slash. An encoded one is part of a name.
bool has_backslash(std::string_view target) {
  return target.substr(0, target.find('?')).contains('\\');
}

int refusal_of(std::string_view name) {
  if (name == "." || name == "..") return 400;
  if (name.empty() || name.size() > longest_name) return 404;
  return name.starts_with('.') && name != ".well-known" ? 404 : 0;
}

}  // namespace

request_path read_path(std::string_view path, std::string_view target) {
  if (!path.starts_with('/') || path.contains('\0')) return {.refusal = 400};
  if (has_encoded_slash(target) || has_backslash(target)) return {.refusal = 400};
  if (path.size() > longest_path) return {.refusal = 404};
  request_path read{.relative = path.substr(1)};
  read.wants_folder = path.ends_with('/');
  if (read.relative.ends_with('/')) read.relative.remove_suffix(1);
  if (path == "/") return read;
  for (auto rest = read.relative;;) {
    const auto end = rest.find('/');
    if (const int refusal = refusal_of(rest.substr(0, end)); refusal != 0) {
      return {.refusal = refusal};
    }
    if (end == std::string_view::npos) return read;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace strata::http
