#include "runtime/proxy/web/route.hpp"

#include <algorithm>
#include <charconv>

#include "text/word.hpp"

namespace strata::runtime::proxy {

namespace {

constexpr std::string_view arrow = "->";

std::unexpected<error> refuse_route(const std::string& text, std::string reason) {
  return failure(errc::invalid_argument, "use route '" + text + "'", std::move(reason),
                 "write CONDITIONS -> BACKEND, BACKEND... [strip=/PATH], -> redirect=URL or "
                 "-> answer=STATUS; conditions are host=NAME, path=/PATH or /PATH/* and "
                 "method=GET,POST");
}

std::vector<std::string> split(std::string_view text, char character) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto end = std::min(text.find(character, from), text.size());
    auto part = text.substr(from, end - from);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    from = end + 1;
  }
  return parts;
}

struct setting {
  std::string key;
  std::string value;
};

std::optional<setting> as_setting(const std::string& word) {
  const auto mark = word.find('=');
  if (mark == std::string::npos) return std::nullopt;
  return setting{word.substr(0, mark), word.substr(mark + 1)};
}

/// Returns why the condition is invalid; empty if it was taken.
std::string take_condition(route_text& text, const std::string& word) {
  const auto given = as_setting(word);
  if (!given || given->value.empty()) return "'" + word + "' is not a condition";
  if (given->key == "host") {
    text.host = text::in_small_letters(given->value);
    return text.host.find('*') > 0 && text.host.contains('*') ? "a star can only be the first part "
                                                                "of a host: *.example.com"
                                                              : "";
  }
  if (given->key == "method") {
    text.methods = split(given->value, ',');
    return "";
  }
  if (given->key != "path") return "'" + given->key + "' is not a condition";
  if (!given->value.starts_with('/'))
    return "the path '" + given->value + "' has no slash before it";
  text.path = given->value;
  text.is_prefix = text.path.ends_with('*');
  if (text.is_prefix) text.path.pop_back();
  return text.path.contains('*') ? "a star can only be at the end of a path" : "";
}

/// Returns why the action is invalid; empty if it was taken.
std::string take_action(route_text& text, const setting& setting) {
  if (setting.key == "strip") {
    text.strip = setting.value;
    return text.strip.starts_with('/') && text.strip.size() > 1 ? "" : "strip takes a /PATH";
  }
  if (setting.key == "redirect") {
    text.location = setting.value;
    if (text.status == 0) text.status = 307;
    return setting.value.empty() ? "redirect takes a URL" : "";
  }
  const auto* const end = setting.value.data() + setting.value.size();
  const auto [last, code] = std::from_chars(setting.value.data(), end, text.status);
  const bool is_status =
      code == std::errc{} && last == end && text.status >= 200 && text.status <= 599;
  return is_status ? "" : "'" + setting.value + "' is not a status from 200 to 599";
}

bool is_action(const setting& setting) {
  return setting.key == "strip" || setting.key == "redirect" || setting.key == "answer";
}

/// `BACKEND weight=2, BACKEND backup strip=/x`: a word that is no action belongs to the backend
/// before it.
std::string take_target(route_text& destination, const std::string& text) {
  for (const auto& part : split(text, ',')) {
    std::string backend;
    for (const auto& word : split(part, ' ')) {
      const auto given = as_setting(word);
      if (given && is_action(*given)) {
        if (auto why = take_action(destination, *given); !why.empty()) return why;
      } else {
        backend += (backend.empty() ? "" : " ") + word;
      }
    }
    if (!backend.empty()) destination.backends.push_back(std::move(backend));
  }
  const bool is_own = destination.status != 0;
  if (is_own && !destination.backends.empty())
    return "a request goes to backends, or is answered here";
  if (!is_own && destination.backends.empty()) return "it has no target";
  if (!destination.location.empty() && (destination.status < 300 || destination.status > 399)) {
    return "a redirection needs a status from 300 to 399";
  }
  return "";
}

bool is_host_of(const std::string& text, std::string host) {
  host = text::in_small_letters(host);
  const auto port = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  if (port != std::string::npos) host.resize(port);
  if (!text.starts_with("*.")) return host == text;
  return host.ends_with(std::string_view(text).substr(1)) && host.size() > text.size() - 1;
}

}  // namespace

result<route_text> parse_route(const std::string& text) {
  const auto mark = text.find(arrow);
  if (mark == std::string::npos) return refuse_route(text, "it has no '->'");
  route_text made{.text = text};
  for (const auto& word : split(std::string_view(text).substr(0, mark), ' ')) {
    if (auto why = take_condition(made, word); !why.empty()) return refuse_route(text, why);
  }
  if (auto why = take_target(made, text.substr(mark + arrow.size())); !why.empty()) {
    return refuse_route(text, why);
  }
  if (!made.strip.empty() && !made.path.starts_with(made.strip)) {
    return refuse_route(text, "strip must be the beginning of the route's path");
  }
  return made;
}

std::string plain_path(std::string_view decoded) {
  std::vector<std::string_view> kept;
  bool ends_open = false;
  for (std::size_t at = 0; at < decoded.size();) {
    const auto end = std::min(decoded.find('/', at), decoded.size());
    const auto part = decoded.substr(at, end - at);
    ends_open = end < decoded.size() || part == "." || part == "..";
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!part.empty() && part != ".") {
      kept.push_back(part);
    }
    at = end + 1;
  }
  std::string made;
  for (const auto part : kept) made.append("/").append(part);
  if (kept.empty() || ends_open) made += "/";
  return made;
}

bool is_of_names(const route_text& route) {
  return !route.host.empty() && route.path.empty() && route.methods.empty() && route.status == 0 &&
         route.strip.empty();
}

bool matches_name(const route_text& route, const std::string& name) {
  return !name.empty() && is_host_of(route.host, name);
}

bool matches(const route_text& route, const proto::http_request& request, std::string_view path) {
  if (!route.methods.empty() &&
      std::ranges::find(route.methods, request.method) == route.methods.end()) {
    return false;
  }
  if (!route.host.empty()) {
    const auto host = request.header("host");
    if (!host || !is_host_of(route.host, std::string(*host))) return false;
  }
  if (route.path.empty()) return true;
  if (!route.is_prefix) return path == route.path;
  // `/v1/*` includes /v1.
  const bool is_folder = route.path.ends_with('/') && path.size() + 1 == route.path.size() &&
                         route.path.starts_with(path);
  return is_folder || path.starts_with(route.path);
}

std::string location_for(const route_text& route, const std::string& target) {
  if (!route.location.ends_with('*')) return route.location;
  auto made = route.location.substr(0, route.location.size() - 1);
  return target.starts_with(route.path) ? made + target.substr(route.path.size()) : made;
}

std::optional<std::string> stripped(const route_text& route, const std::string& target) {
  if (route.strip.empty()) return target;
  if (!target.starts_with(route.strip)) return std::nullopt;
  auto rest = target.substr(route.strip.size());
  return rest.starts_with('/') ? rest : "/" + rest;
}

}  // namespace strata::runtime::proxy
