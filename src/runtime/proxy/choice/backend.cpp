#include "runtime/proxy/choice/backend.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "net/introduction.hpp"
#include "net/scheme.hpp"
#include "net/tls/session.hpp"
#include "runtime/proxy/choice/mixing.hpp"

namespace strata::runtime::proxy {

namespace {

constexpr std::uint64_t heaviest = 1000;
constexpr std::uint64_t most_at_a_time = 1'000'000;

std::unexpected<error> refuse(const std::string& text, std::string reason) {
  return failure(
      errc::invalid_argument, "use backend '" + text + "'", std::move(reason),
      "write HOST:PORT, a URL, a runtime's name or @GROUP; after a blank, weight=N, max=N, backup, "
      "drain, http2, proxy=v1, proxy=v2, prefer=local or prefer=zone");
}

std::string as_url(const std::string& place) {
  if (place.contains("://")) return place;
  return (place.contains(':') ? "tcp://" : "runtime://") + place;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    if (end != at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

struct range {
  std::uint64_t least;
  std::uint64_t most;
};

/// Reads `KEY=N`, with a number within the range.
bool read_number(std::string_view word, std::string_view key, range range, std::uint64_t& into) {
  if (!word.starts_with(key)) return false;
  word.remove_prefix(key.size());
  const auto* const end = word.data() + word.size();
  const auto [last, code] = std::from_chars(word.data(), end, into);
  return code == std::errc{} && last == end && into >= range.least && into <= range.most;
}

}  // namespace

result<backend_text> parse_backend(const std::string& text) {
  const auto words = words_of(text);
  if (words.empty()) return refuse(text, "it has no address");
  const bool is_group = words.front().starts_with('@');
  auto url = net::parse_connecting(as_url(words.front().substr(is_group ? 1 : 0)));
  if (!url) return std::unexpected(url.error());
  if (url->has_port() && url->port == 0) return refuse(text, "0 is not a port to connect to");
  if (is_group && url->scheme->form != net::url_form::name) {
    return refuse(text, "the name of a group is missing after the @");
  }
  backend_text made{.text = text, .url = std::move(*url), .is_group = is_group};
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (words[at] == "backup") {
      made.is_backup = true;
    } else if (words[at] == "drain") {
      made.is_drained = true;
    } else if (words[at] == "http2") {
      made.speaks_http2 = true;
    } else if (words[at] == "prefer=local" || words[at] == "prefer=zone") {
      if (made.url.scheme->form != net::url_form::name) {
        return refuse(text, "'" + words[at] + "' needs the name of a runtime or @GROUP");
      }
      made.preferred = words[at].ends_with("zone") ? preference::zone : preference::local;
    } else if (words[at] == "proxy=v1" || words[at] == "proxy=v2") {
      made.proxy_version = words[at].back() - '0';
    } else if (!read_number(words[at], "weight=", {1, heaviest}, made.weight) &&
               !read_number(words[at], "max=", {0, most_at_a_time}, made.max)) {
      return refuse(text, "'" + words[at] +
                              "' is neither weight=N (1 to 1000), max=N (0 to 1000000), backup, "
                              "drain, http2, proxy=v1, proxy=v2, prefer=local nor "
                              "prefer=zone");
    }
  }
  return made;
}

std::string backend_text::where() const {
  if (at) return std::string(url.scheme->name) + "://" + at->text();
  return is_group ? "@" + url.host : url.text();
}

bool backend_text::is_followed() const {
  if (at) return false;
  if (url.scheme->form == net::url_form::name) return true;
  const bool is_own = url.host == "localhost" || url.host.ends_with(".localhost");
  return url.has_port() && !is_own && !net::address_of(url);
}

std::string_view place_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find(' '));
}

std::string backend::preface_for(const net::peer_info* client) const {
  return is.proxy_version == 0 ? "" : net::introduction(is.proxy_version, client);
}

bool backend::takes_http2(const net::stream& stream) const {
  const auto* const secured = stream.tls();
  return is.speaks_http2 && (secured == nullptr || secured->application == "h2");
}

std::uint64_t mark_of(const backend_text& text) {
  return mixed(std::hash<std::string>{}(text.where()));
}

}  // namespace strata::runtime::proxy
