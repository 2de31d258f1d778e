// The control protocol between the bench and a node: one line of JSON in each direction.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::measure {

/// The transport of a control line: a socket, a pair of pipes, or a command run by ssh.
class control_stream {
 public:
  control_stream() = default;
  control_stream(const control_stream&) = delete;
  control_stream& operator=(const control_stream&) = delete;
  virtual ~control_stream() = default;

  [[nodiscard]] virtual result<void> write(std::string_view bytes) = 0;
  /// Waits for bytes, and returns how many; 0 when the peer is gone.
  [[nodiscard]] virtual result<std::size_t> read(std::span<char> bytes) = 0;
};

[[nodiscard]] std::unique_ptr<control_stream> stream_over(unique_fd socket);
[[nodiscard]] std::unique_ptr<control_stream> stream_over_standard_input_and_output();

class control_line {
 public:
  explicit control_line(std::unique_ptr<control_stream> stream) : over_(std::move(stream)) {}

  [[nodiscard]] result<void> write(const nlohmann::json& message);
  /// Returns nullopt when the peer is gone. Errors: malformed; limit_exceeded for a line above 4
  /// MiB.
  [[nodiscard]] result<std::optional<nlohmann::json>> read();
  /// Writes a message, reads the answer, and converts `{"error": …}` back to an error. Errors: also
  /// connection_closed.
  [[nodiscard]] result<nlohmann::json> ask(const nlohmann::json& message);

 private:
  std::unique_ptr<control_stream> over_;
  std::string held_;
};

}  // namespace strata::measure
