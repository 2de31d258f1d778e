// A connection to a cache, in Redis's protocol, over a blocking socket.
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
  /// `endpoint` as a runtime shows it: `tcp://HOST:PORT` or `unix:///PATH`; where a cache listens
  /// on all addresses it is reached at this machine's own. Errors: unreachable.
  [[nodiscard]] static outcome<cache_link> connect(const std::string& endpoint);

  /// Errors of all: failed, when the connection has ended or what comes is not the protocol.
  [[nodiscard]] outcome<> send(std::span<const std::string> words) const;
  /// The next reply; waits for it.
  [[nodiscard]] outcome<proto::resp_value> wait();
  /// The next reply that has arrived, if one has. Never waits.
  [[nodiscard]] outcome<std::optional<proto::resp_value>> take();
  /// Takes in what can be read, and waits when there is nothing.
  [[nodiscard]] outcome<> receive();

  [[nodiscard]] int fd() const { return connection_.get(); }

 private:
  explicit cache_link(unique_fd connection) : connection_(std::move(connection)) {}

  unique_fd connection_;
  proto::value_reader reader_;
};

}  // namespace strata::cli
