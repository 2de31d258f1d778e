// A connection to a cache, with Redis's protocol, over a blocking socket.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/line/outcome.hpp"
#include "proto/resp/resp_value.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::cli {

class cache_link {
 public:
  /// Connects to `endpoint`, as a runtime shows it: `tcp://HOST:PORT` or `unix:///PATH`; a cache
  /// that listens on all addresses is reached at this machine's own. Errors: unreachable.
  [[nodiscard]] static outcome<cache_link> connect(const std::string& endpoint);

  /// Errors of all: failed, if the connection has ended or the data is not the protocol.
  [[nodiscard]] outcome<> send(std::span<const std::string> words) const;
  /// Waits for the next reply.
  [[nodiscard]] outcome<proto::resp_value> wait();
  /// Returns the next reply if it has arrived. Never waits.
  [[nodiscard]] outcome<std::optional<proto::resp_value>> take();
  /// Reads what is available, and waits if there is nothing.
  [[nodiscard]] outcome<> receive();

  [[nodiscard]] int fd() const { return connection_.get(); }

 private:
  explicit cache_link(unique_fd connection) : connection_(std::move(connection)) {}

  unique_fd connection_;
  proto::value_reader reader_;
};

}  // namespace strata::cli
