#include "measure/node/control.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "text/json_text.hpp"

namespace strata::measure {

namespace {

constexpr std::size_t longest_line = std::size_t{4} << 20U;

// Uses the owning process's descriptors. A lost peer is an error here and not a signal: all of
// strata ignores SIGPIPE.
class descriptor_stream final : public control_stream {
 public:
  descriptor_stream(unique_fd owned, int fd, int out)
      : owned_(std::move(owned)), in_(fd), out_(out) {}

  result<void> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto written = ::write(out_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return system_failure(errno, "write to the other end of the benchmark");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }
  result<std::size_t> read(std::span<char> bytes) override {
    for (;;) {
      const auto got = ::read(in_, bytes.data(), bytes.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EINTR) continue;
      if (errno == ECONNRESET) return 0;
      return system_failure(errno, "read from the other end of the benchmark");
    }
  }

 private:
  unique_fd owned_;
  int in_;
  int out_;
};

}  // namespace

std::unique_ptr<control_stream> stream_over(unique_fd socket) {
  const int fd = socket.get();
  return std::make_unique<descriptor_stream>(std::move(socket), fd, fd);
}

std::unique_ptr<control_stream> stream_over_standard_input_and_output() {
  return std::make_unique<descriptor_stream>(unique_fd(), STDIN_FILENO, STDOUT_FILENO);
}

result<void> control_line::write(const nlohmann::json& message) {
  return over_->write(message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                      '\n');
}

result<std::optional<nlohmann::json>> control_line::read() {
  std::array<char, 4096> piece;
  std::size_t searched = 0;
  for (;;) {
    const auto end = held_.find('\n', searched);
    if (end != std::string::npos) {
      const std::string operation = "read from the other end of the benchmark";
      auto read = text::parse_json(std::string_view(held_).substr(0, end), operation);
      held_.erase(0, end + 1);
      if (!read) return std::unexpected(read.error());
      if (!read->is_object()) {
        return failure(errc::malformed, operation, "its line is not a JSON object");
      }
      return std::move(*read);
    }
    searched = held_.size();
    if (held_.size() > longest_line) {
      return failure(errc::limit_exceeded, "read a line from the other end of the benchmark",
                     "it is longer than 4 MiB");
    }
    const auto got = over_->read(piece);
    if (!got) return std::unexpected(got.error());
    if (*got == 0) return std::nullopt;
    held_.append(piece.data(), *got);
  }
}

result<nlohmann::json> control_line::ask(const nlohmann::json& message) {
  if (auto written = write(message); !written) return std::unexpected(written.error());
  auto answer = read();
  if (!answer) return std::unexpected(answer.error());
  if (!*answer) {
    return failure(errc::connection_closed, "read from the other end of the benchmark",
                   "it has disconnected");
  }
  const auto wrong = (*answer)->find("error");
  if (wrong != (*answer)->end()) {
    // A complete sentence already, from `describe`: "cannot …".
    auto sentence = wrong->is_string() ? wrong->get<std::string>() : "cannot measure";
    if (sentence.starts_with("cannot ")) sentence.erase(0, 7);
    const auto colon = sentence.find(": ");
    if (colon == std::string::npos) return failure(errc::system, std::move(sentence));
    return failure(errc::system, sentence.substr(0, colon), sentence.substr(colon + 2));
  }
  return std::move(**answer);
}

}  // namespace strata::measure
