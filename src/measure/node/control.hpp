// The talk between the bench and a node: a line of JSON each way.
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

/// What a control line's bytes go over: a socket, a pair of pipes, a command's end of ssh.
class control_stream {
 public:
  control_stream() = default;
  control_stream(const control_stream&) = delete;
  control_stream& operator=(const control_stream&) = delete;
  virtual ~control_stream() = default;

  [[nodiscard]] virtual result<void> write(std::string_view bytes) = 0;
  /// Waits for some bytes, and says how many; 0 when the peer has gone.
  [[nodiscard]] virtual result<std::size_t> read(std::span<char> bytes) = 0;
};

[[nodiscard]] std::unique_ptr<control_stream> stream_over(unique_fd socket);
[[nodiscard]] std::unique_ptr<control_stream> stream_over_standard_input_and_output();

class control_line {
 public:
  explicit control_line(std::unique_ptr<control_stream> stream) : over_(std::move(stream)) {}

  [[nodiscard]] result<void> write(const nlohmann::json& message);
  /// nullopt when the peer has gone. Errors: malformed; limit_exceeded for a line above 4 MiB.
  [[nodiscard]] result<std::optional<nlohmann::json>> read();
  /// Writes, reads the answer, and turns `{"error": …}` into an error again. Errors: also
  /// connection_closed.
  [[nodiscard]] result<nlohmann::json> ask(const nlohmann::json& message);

 private:
  std::unique_ptr<control_stream> over_;
  std::string held_;
};

}  // namespace strata::measure
