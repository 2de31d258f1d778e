// The daemon's control API (docs/openapi.yaml) over a connection that waits.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/daemon_client/wire.hpp"
#include "cli/line/outcome.hpp"
#include "proto/http/http1.hpp"
#include "text/readable.hpp"

namespace strata::cli {

/// JSON text as a value. nullopt when it is none, or nested more deeply than the API ever is: the
/// depth of what comes from a socket must not decide how deep we recurse.
[[nodiscard]] std::optional<nlohmann::json> parse_json(std::string_view text);

/// A line of a stream. Errors: failed, showing the line when it is no JSON.
[[nodiscard]] outcome<nlohmann::json> parse_line_of_json(std::string_view line);

/// A reply of `application/x-ndjson` that is still coming.
class line_stream {
 public:
  line_stream(std::unique_ptr<wire> connection, proto::http_response_parser parser);

  /// The lines that have come since the last call. Never waits.
  [[nodiscard]] std::vector<std::string> take_lines();

  /// True when the daemon has said that there is no more.
  [[nodiscard]] bool ended() const { return parser_.done(); }

  /// Waits for bytes. Errors: failed, when the reply is cut or malformed.
  [[nodiscard]] outcome<> wait();

  /// For poll(): readable when `wait` will not wait.
  [[nodiscard]] int fd() const { return connection_->fd(); }

 private:
  std::unique_ptr<wire> connection_;
  proto::http_response_parser parser_;
  text::line_splitter lines_;
};

/// One daemon, as seen through its socket, or from afar at https://HOST:PORT. A connection is made
/// when the first request needs it, and used again for the next. One thread at a time.
///
/// An answer has to come within the daemon's patience. What changes something may take longer, as
/// long as the daemon answers when it is asked for its version meanwhile.
///
/// Errors of all requests: unreachable, when there is no daemon or it is silent; not_found, when
/// there is no runtime of the name that was asked for, and failed, with the daemon's own sentence;
/// failed, when the answer is none that the API gives.
class control_client {
 public:
  explicit control_client(daemon_address daemon) : daemon_(std::move(daemon)) {}

  /// The answer as JSON; null for an answer without content.
  [[nodiscard]] outcome<nlohmann::json> get(const std::string& target);
  [[nodiscard]] outcome<nlohmann::json> remove(const std::string& target);
  [[nodiscard]] outcome<nlohmann::json> post(const std::string& target);
  [[nodiscard]] outcome<nlohmann::json> post(const std::string& target, const nlohmann::json& body);
  [[nodiscard]] outcome<nlohmann::json> patch(const std::string& target,
                                              const nlohmann::json& body);

  /// Asks the runtime for an operation that a type has; `parameters` by their rows' keys.
  [[nodiscard]] outcome<nlohmann::json> ask(const std::string& name, std::string_view operation,
                                            std::string_view body = {},
                                            const nlohmann::json& parameters = {});

  /// On a connection of its own.
  [[nodiscard]] outcome<line_stream> stream(const std::string& target);

 private:
  struct request {
    std::string_view method;
    std::string target;
    std::string_view content_type = {};
    std::string_view body = {};

    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string name() const;
  };
  struct reply {
    int status = 0;
    std::string body;
  };

  /// `owner` is a runtime that the request names, too.
  [[nodiscard]] outcome<nlohmann::json> call(const request& request, const std::string& owner = {});
  [[nodiscard]] bool lacks_runtime(const request& request, const std::string& owner);
  [[nodiscard]] outcome<reply> exchange(const request& request);
  [[nodiscard]] outcome<> send_and_await_head(wire& wire, const request& request,
                                              proto::http_response_parser& parser) const;
  [[nodiscard]] outcome<bool> receive(wire& wire, const request& request,
                                      proto::http_response_parser& parser) const;
  [[nodiscard]] bool is_answering() const;
  [[nodiscard]] outcome<nlohmann::json> read_answer(const reply& answer) const;

  daemon_address daemon_;
  std::unique_ptr<wire> connection_;
};

/// "/v1/runtimes/NAME", and "/v1/runtimes/NAME/WHAT".
[[nodiscard]] std::string runtime_target(std::string_view name, std::string_view text = {});

}  // namespace strata::cli
