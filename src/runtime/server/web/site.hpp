// What the HTTP connections of one shard share: the files that they serve, the fields that all
// answers get, the access log and the counts.
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

/// Errors: invalid_argument for a field, an origin or a path that can never be right, and for what
/// makes sense with --http alone.
[[nodiscard]] result<void> check_web(const web_options& options);

/// Who asked, as the access log names it.
struct visitor {
  std::string address;
  std::string tls_subject;
};

class site {
 public:
  site(loop::loop& loop, const web_options& options) : loop_(loop), options_(options) {}

  /// `on_error` is told, in a sentence, what the log cannot be written for. Errors: naming the
  /// folder or the file that cannot be opened.
  [[nodiscard]] result<void> open(const std::function<void(std::string)>& on_error);
  /// Opens the log again, which may have been moved away. Errors: of the file; then the site goes
  /// on in the one that it has.
  [[nodiscard]] result<void> open_log_again() { return log_ ? log_->open_again() : result<void>{}; }
  /// Awaits that the log is written.
  [[nodiscard]] loop::task<> flushed(loop::time_point limit);

  /// Null when there are none.
  [[nodiscard]] http::file_server* files() const { return files_.get(); }
  /// Whether answers get fields of the options' at all.
  [[nodiscard]] bool dresses() const { return !fields_.empty() || !options_.cors.empty(); }
  [[nodiscard]] proto::http_fields fields_for(const proto::http_request& request) const;
  [[nodiscard]] bool answers_preflights() const { return !options_.cors.empty(); }
  [[nodiscard]] bool keeps_log() const { return log_ != nullptr; }

  /// Counts an answer, and writes it to the log. `client`: of one that may have become a
  /// WebSocket; empty if there is no log.
  void note(const http::exchange& answered, const visitor& client, loop::time_point began);
  /// The same of a request that could not be read, and was answered without a handler.
  void note_refused(int status, std::size_t body_bytes, const visitor& client);
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
