// The talk between the bench and a node: a line of JSON each way, over a stream socket.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::paths {

class control_line {
 public:
  explicit control_line(unique_fd fd) : fd_(std::move(fd)) {}

  [[nodiscard]] result<void> write(const nlohmann::json& message);
  /// nullopt when the peer has gone. Errors: malformed; limit_exceeded for a line above 4 MiB.
  [[nodiscard]] result<std::optional<nlohmann::json>> read();
  /// Writes, reads the answer, and turns `{"error": …}` into an error again. Errors: also
  /// connection_closed.
  [[nodiscard]] result<nlohmann::json> ask(const nlohmann::json& message);

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  unique_fd fd_;
  std::string held_;
};

}  // namespace strata::paths
