// The daemon's control API (docs/openapi.yaml) over a blocking connection.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/daemon_client/session_stream.hpp"
#include "cli/daemon_client/wire.hpp"
#include "cli/line/outcome.hpp"
#include "proto/http/http1.hpp"
#include "text/readable.hpp"

namespace strata::cli {

/// Parses JSON. Returns nullopt if the text is invalid, or nested more deeply than the API ever is:
/// input from a socket must not decide how deep the program recurses.
[[nodiscard]] std::optional<nlohmann::json> parse_json(std::string_view text);

/// Parses a line of a stream. Errors: failed, showing the line, if it is not JSON.
[[nodiscard]] outcome<nlohmann::json> parse_line_of_json(std::string_view line);

/// An `application/x-ndjson` reply in progress.
class line_stream {
 public:
  line_stream(std::unique_ptr<wire> connection, proto::http_response_parser parser);

  /// Returns the lines received since the last call. Never waits.
  [[nodiscard]] std::vector<std::string> take_lines();

  /// Whether the daemon has ended the stream.
  [[nodiscard]] bool ended() const { return parser_.done(); }

  /// Waits for bytes. Errors: failed, if the reply is truncated or malformed.
  [[nodiscard]] outcome<> wait();

  /// For poll(): readable if `wait` will not block.
  [[nodiscard]] int fd() const { return connection_->fd(); }

 private:
  std::unique_ptr<wire> connection_;
  proto::http_response_parser parser_;
  text::line_splitter lines_;
};

/// One daemon, at its socket, or remote at https://HOST:PORT. The connection is made for the first
/// request, and reused for the next ones. One thread at a time.
///
/// An answer must arrive within the daemon's timeout. A request that changes something may take
/// longer, as long as the daemon answers requests for its version meanwhile.
///
/// Errors of all requests: unreachable, if there is no daemon or it is silent; not_found, if the
/// requested runtime does not exist, and failed, with the daemon's own message; failed, if the
/// answer is not one of the API's.
class control_client {
 public:
  explicit control_client(daemon_address daemon) : daemon_(std::move(daemon)) {}

  /// Returns the answer as JSON; null for an answer without content.
  [[nodiscard]] outcome<nlohmann::json> get(const std::string& target);
  [[nodiscard]] outcome<nlohmann::json> remove(const std::string& target);
  [[nodiscard]] outcome<nlohmann::json> post(const std::string& target);
  [[nodiscard]] outcome<nlohmann::json> post(const std::string& target, const nlohmann::json& body);
  [[nodiscard]] outcome<nlohmann::json> patch(const std::string& target,
                                              const nlohmann::json& body);

  /// Requests an operation of the runtime's type; `parameters` by their rows' keys.
  [[nodiscard]] outcome<nlohmann::json> ask(const std::string& name, std::string_view operation,
                                            std::string_view body = {},
                                            const nlohmann::json& parameters = {});

  /// Opens a stream on a connection of its own.
  [[nodiscard]] outcome<line_stream> stream(const std::string& target);
  /// Opens a session, likewise.
  [[nodiscard]] outcome<session_stream> open_session(const std::string& target);

 private:
  struct request {
    std::string_view method;
    std::string target;
    std::string_view content_type = {};
    std::string_view body = {};
    proto::http_fields fields = {};  ///< further ones

    [[nodiscard]] std::string text(bool has_token) const;
    [[nodiscard]] std::string name() const;
  };
  struct reply {
    int status = 0;
    std::string body;
  };

  /// `owner` is another runtime that the request names.
  [[nodiscard]] outcome<nlohmann::json> call(const request& request, const std::string& owner = {});
  /// Whether the daemon has no runtime at that target.
  [[nodiscard]] bool is_missing(const std::string& runtime);
  [[nodiscard]] bool lacks_runtime(const request& request, const std::string& owner);
  [[nodiscard]] outcome<std::unique_ptr<wire>> connect();
  [[nodiscard]] outcome<reply> exchange(const request& request);
  [[nodiscard]] outcome<> send_and_await_head(wire& wire, const request& request,
                                              proto::http_response_parser& parser) const;
  [[nodiscard]] outcome<bool> receive(wire& wire, const request& request,
                                      proto::http_response_parser& parser) const;
  [[nodiscard]] bool is_answering() const;
  /// Reads the rest of an answer that should have begun a stream.
  [[nodiscard]] refusal refusal_of(wire& wire, proto::http_response_parser& parser) const;
  [[nodiscard]] outcome<nlohmann::json> read_answer(const reply& answer) const;

  daemon_address daemon_;
  std::unique_ptr<wire> connection_;
};

/// "/v1/runtimes/NAME", and "/v1/runtimes/NAME/WHAT".
[[nodiscard]] std::string runtime_target(std::string_view name, std::string_view text = {});

}  // namespace strata::cli
