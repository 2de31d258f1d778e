// One HTTP request on a connection, and the answer that it gets. For handlers.
//
// The body comes in pieces as it is asked for, and an answer goes out as fast as the client reads
// it: neither takes more memory than one piece and what `write` lets wait.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "loop/task.hpp"
#include "net/stream.hpp"
#include "proto/http1.hpp"

namespace strata::http {

class server_connection;

class exchange {
 public:
  exchange(server_connection& on, const proto::http_request& of) : connection_(on), request_(of) {}
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Without its body.
  [[nodiscard]] const proto::http_request& request() const { return request_; }
  /// "GET" for HEAD, which is answered alike but for the body.
  [[nodiscard]] std::string_view method() const;

  /// Awaits more of the body: some bytes, or none at its end. Errors: of the connection, or the
  /// body's form.
  loop::task<result<std::string>> read();
  /// Awaits all of the body. Errors: as of `read`; limit_exceeded when it is longer than `most`.
  loop::task<result<std::string>> read_all(std::size_t most);

  /// Answers in one piece.
  void respond(int status, std::string_view type, std::string_view body);
  /// Begins an answer of unknown length, in chunks; `write` and `finish` follow. To HTTP/1.0 it
  /// ends with the connection.
  void begin(int status, std::string_view type);
  /// A piece of the answer, at once. Look at `unsent()`, or await `write`.
  void push(std::string_view piece);
  /// A piece of the answer, and then room for the next. False when the client has gone or does
  /// not read.
  loop::task<bool> write(std::string_view piece);
  void finish();
  [[nodiscard]] std::size_t unsent() const;
  /// Awaits that the client ends the connection; what it says meanwhile is lost.
  loop::task<> client_end();
  /// Ends the connection at once.
  void abort();

  /// Takes the connection for another protocol, once the request is read whole. Answer with 101
  /// on the stream itself; what the client has sent behind the request is unread on it.
  [[nodiscard]] std::unique_ptr<net::stream> upgrade();

 private:
  friend class server_connection;
  loop::task<result<std::string>> read_within(std::size_t most);

  enum class stage : std::uint8_t { open, begun, answered };

  server_connection& connection_;
  const proto::http_request& request_;
  stage at_ = stage::open;
  bool is_chunked_ = false;
  bool keeps_alive_ = true;
};

}  // namespace strata::http
