// The client's side of HTTP/1.1 on one stream: one request at a time, its answer in pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/stream.hpp"
#include "proto/http1.hpp"

namespace strata::http {

class client_connection {
 public:
  explicit client_connection(std::unique_ptr<net::stream> over) : stream_(std::move(over)) {}

  /// Sends a request and awaits the answer's head. The answer before must have been read to its
  /// end. `fields` need a Host. Errors: of the connection, malformed, limit_exceeded.
  loop::task<result<proto::http_response_head>> ask(std::string_view method,
                                                    std::string_view target,
                                                    const proto::http_fields& fields,
                                                    std::string_view body);
  /// Awaits more of the answer's body: some bytes, or none at its end.
  loop::task<result<std::string>> read();
  /// Awaits all of it. Errors: as of `read`; limit_exceeded when it is longer than `most`.
  loop::task<result<std::string>> read_all(std::size_t most);

  /// The answer has been read to its end, and the connection takes another request.
  [[nodiscard]] bool is_free() const { return is_free_; }
  /// After an answer of 101: the connection, for the protocol that was agreed on.
  [[nodiscard]] std::unique_ptr<net::stream> upgrade();

 private:
  /// False at the end of the connection.
  loop::task<result<bool>> receive();

  std::unique_ptr<net::stream> stream_;
  proto::http_response_parser parser_;
  bool is_free_ = true;
  bool has_asked_ = false;
};

}  // namespace strata::http
