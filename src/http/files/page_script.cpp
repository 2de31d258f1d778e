#include "http/files/page_script.hpp"

#include <algorithm>

namespace strata::http {

namespace {

// Messages sent while there is no connection are queued for the next one.
constexpr std::string_view script = R"(<script>
window.strata = (() => {
  const waiting = [];
  const self = {socket: null, onmessage: null, send(text) {
    if (self.socket.readyState === WebSocket.OPEN) self.socket.send(text);
    else if (waiting.length < 1000) waiting.push(text);
  }};
  let delay = 250;
  const connect = () => {
    const scheme = location.protocol === 'https:' ? 'wss://' : 'ws://';
    self.socket = new WebSocket(scheme + location.host + '/');
    self.socket.onopen = () => {
      delay = 250;
      for (const text of waiting.splice(0)) self.socket.send(text);
    };
    self.socket.onmessage = (event) => { if (self.onmessage) self.onmessage(event); };
    self.socket.onclose = () => {
      setTimeout(connect, delay);
      delay = Math.min(delay * 2, 10000);
    };
  };
  connect();
  return self;
})();
</script>
)";

std::size_t find_tag(std::string_view page, std::string_view tag) {
  const auto same = [](char one, char other) {
    return (one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one) == other;
  };
  const auto found = std::ranges::search(page, tag, same);
  return found.empty() ? std::string_view::npos
                       : static_cast<std::size_t>(found.begin() - page.begin());
}

}  // namespace

std::string with_script(std::string_view page) {
  auto at = find_tag(page, "</head>");
  if (at == std::string_view::npos) at = find_tag(page, "</body>");
  at = std::min(at, page.size());
  std::string made;
  made.reserve(page.size() + script.size());
  made.append(page.substr(0, at)).append(script).append(page.substr(at));
  return made;
}

}  // namespace strata::http
