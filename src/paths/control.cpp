#include "paths/control.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace strata::paths {

namespace {

constexpr std::size_t longest_line = std::size_t{4} << 20U;

}  // namespace

result<void> control_line::write(const nlohmann::json& message) {
  const auto text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  std::string_view left = text;
  while (!left.empty()) {
    const auto sent = ::send(fd_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return system_failure(errno, "talk to the other end of the benchmark");
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

result<std::optional<nlohmann::json>> control_line::read() {
  std::array<char, 4096> piece;
  std::size_t searched = 0;
  for (;;) {
    const auto end = held_.find('\n', searched);
    if (end != std::string::npos) {
      auto read = nlohmann::json::parse(held_.begin(), held_.begin() + static_cast<long>(end),
                                        nullptr, false);
      held_.erase(0, end + 1);
      if (read.is_discarded() || !read.is_object()) {
        return failure(errc::malformed, "understand the other end of the benchmark",
                       "its line is not a JSON object");
      }
      return read;
    }
    searched = held_.size();
    if (held_.size() > longest_line) {
      return failure(errc::limit_exceeded, "read a line of the other end of the benchmark",
                     "it is longer than 4 MiB");
    }
    const auto got = ::recv(fd_.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECONNRESET) {
      return system_failure(errno, "hear the other end of the benchmark");
    }
    if (got <= 0) return std::nullopt;
    held_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

result<nlohmann::json> control_line::ask(const nlohmann::json& message) {
  if (auto written = write(message); !written) return std::unexpected(written.error());
  auto answer = read();
  if (!answer) return std::unexpected(answer.error());
  if (!*answer) {
    return failure(errc::connection_closed, "hear the other end of the benchmark", "it has gone");
  }
  const auto wrong = (*answer)->find("error");
  if (wrong != (*answer)->end()) {
    // A whole sentence already, as `describe` makes it: "cannot …".
    auto sentence = wrong->is_string() ? wrong->get<std::string>() : "cannot measure";
    if (sentence.starts_with("cannot ")) sentence.erase(0, 7);
    return failure(errc::system, std::move(sentence));
  }
  return std::move(**answer);
}

}  // namespace strata::paths
