// Shared by the HTTP connections of one shard: the served files, the additional fields of all
// answers, the access log and the counts.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/access_format.hpp"
#include "http/files/file_server.hpp"
#include "loop/loop.hpp"
#include "runtime/file_sink.hpp"
#include "runtime/server/options.hpp"
#include "runtime/web/web_figures.hpp"

namespace strata::runtime::server {

/// Errors: invalid_argument for an invalid field, origin or path, and for options that need --http.
[[nodiscard]] result<void> check_web(const web_options& options);

/// The client, in the form of the access log.
struct web_client {
  std::string address;
  std::string tls_subject;
};

class site {
 public:
  site(loop::loop& loop, const web_options& options) : loop_(loop), options_(options) {}

  /// `on_error` is called with a sentence if the log cannot be written. Errors: name the folder or
  /// file that cannot be opened.
  [[nodiscard]] result<void> open(const std::function<void(std::string)>& on_error);
  /// Opens the log again, which may have been moved away. Errors: those of the file; then the
  /// present one stays in use.
  [[nodiscard]] result<void> open_log_again() { return log_ ? log_->open_again() : result<void>{}; }
  /// Waits until the log is written.
  [[nodiscard]] loop::task<> flushed(loop::time_point limit);

  /// Null if there are none.
  [[nodiscard]] http::file_server* files() const { return files_.get(); }
  /// Whether the options add fields to answers.
  [[nodiscard]] bool dresses() const { return !fields_.empty() || !options_.cors.empty(); }
  [[nodiscard]] proto::http_fields fields_for(const proto::http_request& request) const;
  [[nodiscard]] bool answers_preflights() const { return !options_.cors.empty(); }
  [[nodiscard]] bool keeps_log() const { return log_ != nullptr; }

  /// Counts an answer, and writes it to the log. `client`: given because the exchange may have
  /// become a WebSocket; empty if there is no log.
  void note(const http::exchange& answered, const web_client& client, loop::time_point began);
  /// The same for a request that could not be parsed, and was answered without a handler.
  void note_refused(int status, std::size_t body_bytes, const web_client& client);
  [[nodiscard]] const web_figures& counted() const { return counted_; }

 private:
  void log(const http::access& access);

  loop::loop& loop_;
  web_options options_;
  proto::http_fields fields_;
  std::unique_ptr<http::file_server> files_;
  std::unique_ptr<file_sink> log_;
  http::access_format log_format_;
  web_figures counted_;
};

}  // namespace strata::runtime::server
