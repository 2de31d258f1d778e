// Boost.Beast parses the messages; no other file includes it.

// Beast 1.81 asserts that a final chunk arrives in at least 5 bytes ("0\r\n\r" alone would abort),
// though its code handles fewer. A peer must not be able to abort the process. Safe to define here,
// since no other file includes Beast.
#define BOOST_DISABLE_ASSERTS

#include "proto/http/http1.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <deque>

#include "proto/http/http1_head.hpp"
#include "proto/http/http_target.hpp"

namespace strata::proto {

namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

// The most untaken interim answers kept for one request; later ones are dropped.
constexpr std::size_t max_interim = 16;

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (auto& letter : lowered) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lowered;
}

/// Beast's parser, with the parts of the message that it has parsed.
template <bool is_request>
class message final : public http::basic_parser<is_request> {
 public:
  std::string method, target;
  std::string reason;
  int status = 0;
  int version = 11;
  http_fields headers;
  http_fields trailers;
  std::string body;
  std::uint64_t announced = 0;  // bytes of its chunks so far
  bool keeps_alive = false;     // according to its head, whatever its trailer contains

 private:
  using text = boost::beast::string_view;

  static std::string copy(text value) { return {value.data(), value.size()}; }

  void on_request_impl(http::verb, text sent_method, text sent_target, int sent_version,
                       error_code&) override {
    method = copy(sent_method);
    target = copy(sent_target);
    version = sent_version;
  }

  void on_response_impl(int sent_status, text sent_reason, int sent_version,
                        error_code& code) override {
    status = sent_status;
    reason = copy(sent_reason);
    version = sent_version;
    if (!is_status(status)) code = http::error::bad_status;
  }

  void on_field_impl(http::field field, text name, text value, error_code& code) override {
    if (this->is_header_done()) {
      trailers.emplace_back(lower({name.data(), name.size()}), copy(value));
      return;
    }
    headers.emplace_back(lower({name.data(), name.size()}), copy(value));
    // With any other coding, Beast would not know the body's end: a way to smuggle a request.
    const bool known = field != http::field::transfer_encoding ||
                       (lower(headers.back().second) == "chunked" && version == 11);
    if (!known) code = http::error::bad_transfer_encoding;
  }

  std::size_t on_body_impl(text piece, error_code&) override {
    body.append(piece.data(), piece.size());
    return piece.size();
  }

  std::size_t on_chunk_body_impl(std::uint64_t, text piece, error_code&) override {
    body.append(piece.data(), piece.size());
    return piece.size();
  }

  void on_header_impl(error_code&) override { keeps_alive = this->keep_alive(); }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  void on_chunk_header_impl(std::uint64_t size, text, error_code&) override { announced += size; }
  void on_finish_impl(error_code&) override {}
};

/// Reads one message after another from the bytes of a connection. Beast gets a head only when it
/// is complete: so the limit for heads is exact, a bad line end is rejected when it arrives, and no
/// byte is scanned twice however slowly they arrive.
template <bool is_request>
class message_reader {
 public:
  explicit message_reader(std::size_t max_header, std::optional<std::size_t> max_body)
      : max_header_(max_header), max_body_(max_body) {
    restart();
  }

  /// Takes bytes, and reads on as `advance` does.
  result<void> take(byte_span input) {
    if (failed_) return std::unexpected(*failed_);
    // Nearly all bytes of long bodies: they are copied once only, into the body.
    const bool is_body = current_->is_header_done() && !current_->is_done() && pending_.empty();
    if (!is_body) {
      pending_ += as_text(input);
      return advance();
    }
    const auto used = read_body(as_text(input));
    if (!used) return std::unexpected(used.error());
    pending_ = as_text(input.subspan(*used));
    return {};
  }

  /// Reads on to the end of the message or of the available bytes.
  result<void> advance() {
    if (failed_) return std::unexpected(*failed_);
    if (!current_->is_header_done()) {
      auto complete = find_head_end();
      if (!complete) return std::unexpected(complete.error());
      if (!*complete) return {};
      if (auto head = read_head(); !head) return head;
    }
    const auto used = read_body(pending_);
    if (!used) return std::unexpected(used.error());
    pending_.erase(0, *used);
    return {};
  }

  void restart() {
    current_.emplace();
    current_->header_limit(UINT32_MAX);
    if (max_body_) {
      current_->body_limit(*max_body_);
    } else {
      current_->body_limit(boost::none);
    }
    head_size_ = line_start_ = scanned_ = 0;
    has_skipped_ = false;
  }

  result<void> refuse(errc code, int status, std::string reason,
                      std::optional<std::size_t> offset = {}) {
    auto refused = failure(code, fmt::format("read the HTTP {}", is_request ? "request" : "reply"),
                           std::move(reason));
    refused.error().offset = offset;
    failed_ = refused.error();
    refusal_status_ = status;
    pending_.clear();
    return refused;
  }

  /// Returns the bytes behind the current message.
  std::string take_rest() { return std::exchange(pending_, {}); }

  message<is_request>& current() { return *current_; }
  const message<is_request>& current() const { return *current_; }
  bool has_nothing_left() const { return pending_.empty(); }
  bool between_messages() const { return pending_.empty() && !current_->got_some(); }
  int refusal_status() const { return refusal_status_; }

 private:
  result<bool> find_head_end() {
    while (head_size_ == 0 && scanned_ < pending_.size()) {
      const auto line_end = pending_.find('\n', scanned_);
      scanned_ = std::min(line_end, pending_.size() - 1) + 1;
      if (scanned_ > max_header_) break;
      if (line_end == std::string::npos) continue;
      if (skip_empty_line()) continue;
      if (line_end == line_start_ || pending_[line_end - 1] != '\r') {
        return std::unexpected(
            refuse(errc::malformed, 400, "a line of its head does not end in CR LF", line_end)
                .error());
      }
      if (line_end == line_start_ + 1) head_size_ = scanned_;
      line_start_ = scanned_;
    }
    if (scanned_ > max_header_) {
      return std::unexpected(
          refuse(errc::limit_exceeded, line_start_ == 0 ? long_line_status() : 431,
                 fmt::format("its head is longer than the limit of {} bytes", max_header_))
              .error());
    }
    return head_size_ != 0;
  }

  /// RFC 9112 section 2.2: a server ignores an empty line before a request. This skips one at most.
  bool skip_empty_line() {
    const bool skips =
        is_request && !has_skipped_ && line_start_ == 0 && pending_.starts_with("\r\n");
    if (!skips) return false;
    pending_.erase(0, 2);
    scanned_ = 0;
    has_skipped_ = true;
    return true;
  }

  /// RFC 9112 section 3: 414 for a target that is too long, 501 for a method that is too long.
  int long_line_status() const {
    if (!is_request) return 431;
    return pending_.find(' ') < max_header_ ? 414 : 501;
  }

  result<void> read_head() {
    if constexpr (is_request) {
      const auto head = std::string_view(pending_).substr(0, head_size_);
      if (const auto wrong = check_request_head(head)) {
        const auto code = wrong->status == 400 ? errc::malformed : errc::not_supported;
        return refuse(code, wrong->status, std::string(wrong->reason));
      }
      // RFC 9110 section 2.5: a later HTTP/1 version is read as the latest known one.
      auto& minor = pending_[head.find("\r\n") - 1];
      if (minor > '1') minor = '1';
    } else {
      add_reason_blank();
    }
    error_code code;
    const auto used = current_->put({pending_.data(), head_size_}, code);
    if (code) return refuse_for(code);
    if (used != head_size_) return refuse(errc::malformed, 400, "its head is incomplete", used);
    pending_.erase(0, used);
    current_->eager(true);
    return {};
  }

  /// RFC 9112 section 4 requires a blank before an empty reason; many servers omit it.
  void add_reason_blank() {
    constexpr std::size_t bare_size = sizeof("HTTP/1.1 200") - 1;
    if (pending_.find("\r\n") != bare_size) return;
    pending_.insert(bare_size, " ");
    ++head_size_;
  }

  /// Returns how many bytes were used: the rest is incomplete, or behind the message.
  result<std::size_t> read_body(std::string_view input) {
    if (current_->is_done() || input.empty()) return 0;
    error_code code;
    const auto used = current_->put({input.data(), input.size()}, code);
    if (code && code != http::error::need_more) return std::unexpected(refuse_for(code).error());
    // Beast leaves only a chunk's size line or the trailer, and both are short.
    if (!current_->is_done() && input.size() - used > max_header_) {
      return std::unexpected(
          refuse(errc::limit_exceeded, 431,
                 fmt::format("a chunk header or the trailer is longer than the limit of {} bytes",
                             max_header_))
              .error());
    }
    return used;
  }

  result<void> refuse_for(error_code code) {
    if (code == http::error::body_limit) {
      return refuse(
          errc::limit_exceeded, 413,
          fmt::format("its body is longer than the limit of {} bytes", max_body_.value_or(0)));
    }
    const bool cut = code == http::error::need_more;  // a head is always passed whole
    return refuse(errc::malformed, 400, cut ? "its head is incomplete" : code.message());
  }

  std::size_t max_header_;
  std::optional<std::size_t> max_body_;
  std::string pending_;
  std::size_t head_size_ = 0;
  std::size_t line_start_ = 0;
  std::size_t scanned_ = 0;
  bool has_skipped_ = false;  // an empty line before the current message
  std::optional<message<is_request>> current_;
  std::optional<error> failed_;
  int refusal_status_ = 0;
};

}  // namespace

struct http_request_parser::state : message_reader<true> {
  using message_reader::message_reader;
  bool continue_taken = false;
  std::optional<http_request> head;
};

http_request_parser::http_request_parser(http_limits limits)
    : state_(std::make_unique<state>(limits.max_header, limits.max_body == http_limits::unlimited
                                                            ? std::nullopt
                                                            : std::optional(limits.max_body))) {}
http_request_parser::~http_request_parser() = default;
http_request_parser::http_request_parser(http_request_parser&&) noexcept = default;
http_request_parser& http_request_parser::operator=(http_request_parser&&) noexcept = default;

result<std::optional<http_request>> http_request_parser::feed(byte_span input) {
  if (auto taken = take(input); !taken) return std::unexpected(taken.error());
  return next();
}

result<std::optional<http_request>> http_request_parser::next() {
  if (auto taken = take({}); !taken) return std::unexpected(taken.error());
  if (!done()) return std::nullopt;
  auto request = std::move(*state_->head);
  request.body = take_body();
  request.trailers = take_trailers();
  state_->head.reset();
  state_->restart();
  state_->continue_taken = false;
  return request;
}

result<void> http_request_parser::take(byte_span input) {
  if (auto read = state_->take(input); !read) return read;
  if (state_->current().is_header_done() && !state_->head) return complete_head();
  return {};
}

result<void> http_request_parser::complete_head() {
  auto& current = state_->current();
  http_request request{.method = std::move(current.method),
                       .target = std::move(current.target),
                       .path = {},
                       .query = {},
                       .has_opaque_query = false,
                       .headers = std::move(current.headers),
                       .body = {},
                       .trailers = {},
                       .version = static_cast<unsigned>(current.version),
                       .keep_alive = current.keeps_alive};
  if (!split_target(request)) {
    const auto why =
        fmt::format("its target '{}' has an invalid percent-encoding or host", request.target);
    return state_->refuse(errc::malformed, 400, why);
  }
  state_->head = std::move(request);
  return {};
}

const http_request* http_request_parser::head() const {
  return state_->head ? &*state_->head : nullptr;
}

std::string http_request_parser::take_body() { return std::exchange(state_->current().body, {}); }

std::uint64_t http_request_parser::announced_body() const {
  const auto& current = state_->current();
  if (!current.is_header_done()) return 0;
  return current.content_length().value_or(current.announced);
}

bool http_request_parser::done() const { return state_->head && state_->current().is_done(); }

http_fields http_request_parser::take_trailers() {
  return std::exchange(state_->current().trailers, {});
}

result<void> http_request_parser::restart() {
  state_->head.reset();
  state_->restart();
  state_->continue_taken = false;
  return take({});
}

std::string http_request_parser::take_rest() { return state_->take_rest(); }

bool http_request_parser::take_continue() {
  const auto& current = state_->current();
  if (state_->continue_taken || refusal_status() != 0 || !state_->head) return false;
  const auto expected = find_field(state_->head->headers, "expect");
  state_->continue_taken = true;
  return expected && lower(*expected) == "100-continue" && current.version == 11 &&
         current.body.empty();
}

bool http_request_parser::idle() const { return state_->between_messages(); }

int http_request_parser::refusal_status() const { return state_->refusal_status(); }

struct http_response_parser::state : message_reader<false> {
  using message_reader::message_reader;
  std::optional<http_response_head> head;
  std::deque<http_response_head> interim;  // not yet taken
  bool is_bodiless = false;                // the request was a HEAD
  bool has_surplus = false;                // unexpected bytes came behind its end

  [[nodiscard]] http_response_head take_current_head() {
    auto& message = current();
    return {.status = message.status,
            .headers = std::move(message.headers),
            .reason = std::move(message.reason)};
  }

  /// Begins a message, which ends with its head if the request was a HEAD.
  void begin_message() {
    restart();
    if (is_bodiless) current().skip(true);
  }
};

http_response_parser::http_response_parser(std::size_t max_header)
    : state_(std::make_unique<state>(max_header, std::nullopt)) {}
http_response_parser::~http_response_parser() = default;
http_response_parser::http_response_parser(http_response_parser&&) noexcept = default;
http_response_parser& http_response_parser::operator=(http_response_parser&&) noexcept = default;

result<void> http_response_parser::feed(byte_span input) {
  if (done()) {
    state_->has_surplus = state_->has_surplus || !input.empty();
    return {};
  }
  for (auto read = state_->take(input);; read = state_->advance()) {
    if (!read) return read;
    auto& current = state_->current();
    if (!current.is_header_done()) return {};
    if (!is_interim(current.status)) {
      if (!state_->head) state_->head = state_->take_current_head();
      return {};
    }
    if (state_->interim.size() < max_interim)
      state_->interim.push_back(state_->take_current_head());
    state_->begin_message();
  }
}

std::optional<http_response_head> http_response_parser::take_interim() {
  if (state_->interim.empty()) return std::nullopt;
  auto head = std::move(state_->interim.front());
  state_->interim.pop_front();
  return head;
}

bool http_response_parser::is_empty() const {
  const auto& current = state_->current();
  return done() && current.body.empty() && current.trailers.empty();
}

result<void> http_response_parser::finish() {
  if (done()) return {};
  error_code code = http::error::partial_message;
  if (state_->head) state_->current().put_eof(code);
  if (!code) return {};
  return state_->refuse(errc::connection_closed, 0,
                        state_->between_messages() ? "the connection was closed before it arrived"
                                                   : "the connection was closed before it ended");
}

const http_response_head* http_response_parser::head() const {
  return state_->head ? &*state_->head : nullptr;
}

http_response_head http_response_parser::take_head() {
  return {.status = state_->head->status,
          .headers = std::exchange(state_->head->headers, {}),
          .reason = std::exchange(state_->head->reason, {})};
}

std::string http_response_parser::take_body() { return std::exchange(state_->current().body, {}); }

void http_response_parser::expect_no_body() {
  state_->is_bodiless = true;
  state_->current().skip(true);
}

http_fields http_response_parser::take_trailers() {
  return std::exchange(state_->current().trailers, {});
}

// RFC 9112 section 9.2: unsolicited bytes are no response, and must not become that of the next
// request.
bool http_response_parser::keep_alive() const {
  return state_->current().keep_alive() && !state_->has_surplus && state_->has_nothing_left();
}

void http_response_parser::restart() {
  state_->head.reset();
  state_->interim.clear();
  state_->is_bodiless = false;
  state_->restart();
}

std::string http_response_parser::take_rest() { return state_->take_rest(); }

bool http_response_parser::done() const { return state_->head && state_->current().is_done(); }

}  // namespace strata::proto
