#include "runtime/server/web/site.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "http/cross_origin.hpp"
#include "http/field.hpp"
#include "http/files/request_path.hpp"
#include "text/word.hpp"

namespace strata::runtime::server {

namespace {

// Fields that control how an answer is sent: a second field of the name would be ambiguous.
bool is_ours_alone(std::string_view name) {
  static constexpr std::string_view names[] = {
      "connection",        "content-length", "content-range", "content-encoding", "date",
      "transfer-encoding", "upgrade",        "etag",          "last-modified",    "trailer"};
  return std::ranges::any_of(names, [&](auto each) { return text::same_text(each, name); });
}

result<void> check_fields(const web_options& options) {
  for (const auto& each : options.http_header) {
    const auto field = http::parse_field(each);
    if (!field) return std::unexpected(field.error());
    if (is_ours_alone(field->first)) {
      return failure(errc::invalid_argument, "send the header field '" + each + "'",
                     "the server itself sets '" + field->first + "'", "leave it out");
    }
  }
  for (const auto& each : options.cors) {
    const bool is_origin =
        each.contains("://") && !each.ends_with('/') &&
        std::ranges::all_of(each, [](char letter) { return letter > ' ' && letter < 0x7F; });
    if (each != "*" && !is_origin) {
      return failure(errc::invalid_argument, "let pages of '" + each + "' read answers",
                     "it is not an origin", "write --cors https://example.com, or --cors '*'");
    }
  }
  return {};
}

}  // namespace

result<void> check_web(const web_options& options) {
  if (auto checked = check_fields(options); !checked) return checked;
  const bool is_named = http::read_path("/" + options.http_fallback, "").refusal == 0;
  if (!is_named || options.http_fallback.ends_with('/')) {
    return failure(errc::invalid_argument,
                   "serve '" + options.http_fallback + "' for what is not there",
                   "it is not the path of a file in the folder of --http",
                   "write it as --http-fallback index.html");
  }
  return {};
}

result<void> site::open(const std::function<void(std::string)>& on_error) {
  fields_.clear();
  for (const auto& each : options_.http_header) {
    auto field = http::parse_field(each);
    if (!field) return std::unexpected(field.error());
    fields_.push_back(std::move(*field));
  }
  if (!options_.http.empty()) {
    auto files = http::file_server::open(loop_, {.catalog = {.folder = options_.http,
                                                             .injects_script = options_.http_inject,
                                                             .keeps_files = options_.http_cache,
                                                             .most_kept = options_.http_cache_size},
                                                 .lists_folders = options_.http_listing,
                                                 .fallback = options_.http_fallback});
    if (!files) return std::unexpected(files.error());
    files_ = std::move(*files);
  }
  if (!options_.http_log.empty()) {
    auto log = file_sink::open(loop_, options_.http_log, on_error);
    if (!log) return std::unexpected(log.error());
    log_ = std::move(*log);
    if (auto format = http::access_format::parse(options_.http_log_format)) log_format_ = *format;
  }
  return {};
}

loop::task<> site::flushed(loop::time_point limit) {
  if (log_) co_await log_->flushed(limit);
}

proto::http_fields site::fields_for(const proto::http_request& request) const {
  auto fields = fields_;
  std::ranges::move(http::cross_origin_fields(options_.cors, request), std::back_inserter(fields));
  return fields;
}

void site::note(const http::exchange& answered, const web_client& client, loop::time_point began) {
  const int status = answered.status();
  counted_.count_answer(status);
  if (!log_) return;
  const http::access what{.request = answered.request(),
                          .client = client.address,
                          .tls_subject = client.tls_subject,
                          .time_s = ::time(nullptr),
                          .seconds = std::chrono::duration<double>(loop_.now() - began).count(),
                          .status = status,
                          .bytes = answered.body_bytes()};
  log(what);
}

void site::note_refused(int status, std::size_t body_bytes, const web_client& client) {
  counted_.count_answer(status);
  if (!log_) return;
  const proto::http_request unread;
  const http::access what{.request = unread,
                          .client = client.address,
                          .tls_subject = client.tls_subject,
                          .time_s = ::time(nullptr),
                          .status = status,
                          .bytes = body_bytes};
  log(what);
}

void site::log(const http::access& access) {
  const auto line = log_format_.line(access);
  // A disk that takes no more loses lines, which was reported to `on_error`.
  [[maybe_unused]] const bool is_taken = log_->append(as_bytes(line));
}

}  // namespace strata::runtime::server
