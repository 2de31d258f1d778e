#include "proto/http/http2.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "proto/http/http2_state.hpp"
#include "text/word.hpp"

namespace strata::proto {

namespace {

/// Checks the code of an nghttp2 call that can fail only for lack of memory.
void demand_done(int code) {
  if (code == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  assert(code == 0);
}

std::int32_t id_of(std::uint32_t stream) { return static_cast<std::int32_t>(stream); }

/// A number as text, in memory of its own.
class digits {
 public:
  explicit digits(std::uint64_t value)
      : end_(std::to_chars(text_.data(), text_.data() + text_.size(), value).ptr) {}
  [[nodiscard]] std::string_view view() const { return {text_.data(), end_}; }

 private:
  std::array<char, 20> text_{};
  const char* end_;
};

}  // namespace

http2_session::http2_session(http2_listener& listener, http2_limits limits, http2_role role)
    : state_(std::make_unique<state>(listener, limits, role)) {
  state_->session.reset(http2_calls::make_session(*state_));
  auto* const with = state_->session.get();
  std::vector<nghttp2_settings_entry> settings = {
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.max_header)},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  if (role == http2_role::server) {
    settings.push_back({NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.max_streams});
    settings.push_back({NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1});
  } else {
    settings.push_back({NGHTTP2_SETTINGS_ENABLE_PUSH, 0});
  }
  demand_done(nghttp2_submit_settings(with, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
  demand_done(nghttp2_session_set_local_window_size(
      with, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(limits.connection_window)));
}

http2_session::~http2_session() = default;

result<void> http2_session::feed(byte_span input, time_point now) {
  auto& own = *state_;
  own.now = now;
  std::int64_t code = 0;
  if (own.flooding.empty()) {
    assert(!own.has_failed);
    code = nghttp2_session_mem_recv(
        own.session.get(), reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
  if (code == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  if (code == NGHTTP2_ERR_FLOODED || code == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) {
    if (own.flooding.empty()) own.flooding = "frames without a request";
  }
  if (!own.flooding.empty()) {
    end_flood();
    return failure(errc::limit_exceeded, "read HTTP/2",
                   "the client sends too many " + std::string(own.flooding));
  }
  if (code >= 0) return {};
  own.has_failed = true;
  if (!own.breach.empty()) {
    end(own.breach_code);
    return failure(errc::malformed, "read HTTP/2", "the client sends " + std::string(own.breach));
  }
  end(http2_code::protocol_error);
  return failure(errc::malformed, "read HTTP/2", nghttp2_strerror(static_cast<int>(code)));
}

void http2_session::end_flood() {
  if (!std::exchange(state_->has_failed, true)) end(http2_code::enhance_your_calm);
}

std::size_t http2_session::give_output(std::size_t most) {
  auto& own = *state_;
  own.most = most;
  own.written = 0;
  own.is_paused = false;
  while (own.written < most && !own.is_paused) {
    const std::uint8_t* bytes = nullptr;
    const auto size = nghttp2_session_mem_send(own.session.get(), &bytes);
    if (size == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
    if (size > 0) {
      own.to.write(std::as_bytes(std::span(bytes, static_cast<std::size_t>(size))));
      own.written += static_cast<std::size_t>(size);
    }
    // Output can reveal a flood too: see `on_sent`. Then a GOAWAY is still to be sent.
    const bool is_ended = !own.flooding.empty() && !own.has_failed;
    if (is_ended) end_flood();
    if (size <= 0 && !is_ended) break;
  }
  return own.written;
}

bool http2_session::wants_output() const {
  return nghttp2_session_want_write(state_->session.get()) != 0;
}

bool http2_session::is_over() const {
  auto* const with = state_->session.get();
  const bool reads = !state_->has_failed && nghttp2_session_want_read(with) != 0;
  return !reads && nghttp2_session_want_write(with) == 0;
}

bool http2_session::awaits_head() const { return state_->head_of != 0 || !state_->has_settings; }

bool http2_session::was_flooded() const { return !state_->flooding.empty(); }

// Until the server has announced how many streams it allows, one is allowed.
bool http2_session::may_ask() const {
  const auto& own = *state_;
  auto* const with = own.session.get();
  const auto wanted =
      nghttp2_session_get_remote_settings(with, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  const auto most = own.has_settings ? std::min(wanted, own.limits.max_streams) : 1;
  return !own.has_failed && nghttp2_session_check_request_allowed(with) != 0 &&
         own.asked_open < most;
}

bool http2_session::has_settings() const { return state_->has_settings; }

bool http2_session::takes_connect_protocol() const {
  return nghttp2_session_get_remote_settings(state_->session.get(),
                                             NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1;
}

std::uint32_t http2_session::ask(const http2_question& question, http2_stream& stream) {
  auto& own = *state_;
  if (nghttp2_session_check_request_allowed(own.session.get()) == 0) return 0;
  const digits length(question.length.value_or(0));
  own.pairs.clear();
  own.pairs.push_back(http2_calls::pair_of(":method", question.method));
  own.pairs.push_back(http2_calls::pair_of(":scheme", question.scheme));
  own.pairs.push_back(http2_calls::pair_of(":authority", question.authority));
  own.pairs.push_back(http2_calls::pair_of(":path", question.target));
  if (!question.protocol.empty()) {
    own.pairs.push_back(http2_calls::pair_of(":protocol", question.protocol));
  }
  add_fields(question.fields);
  if (question.length) own.pairs.push_back(http2_calls::pair_of("content-length", length.view()));
  const auto body = http2_calls::body_of(stream);
  const auto made =
      nghttp2_submit_request(own.session.get(), nullptr, own.pairs.data(), own.pairs.size(),
                             question.has_body ? &body : nullptr, &stream);
  if (made == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  if (made <= 0) return 0;
  ++own.asked_open;
  return static_cast<std::uint32_t>(made);
}

void http2_session::answer(std::uint32_t stream, const http2_answer& head) {
  auto& own = *state_;
  auto* const answering = static_cast<http2_stream*>(
      nghttp2_session_get_stream_user_data(own.session.get(), id_of(stream)));
  if (answering == nullptr) return;
  const digits status(static_cast<std::uint64_t>(head.status));
  const digits length(head.length.value_or(0));
  own.pairs.clear();
  own.pairs.push_back(http2_calls::pair_of(":status", status.view()));
  if (!head.date.empty()) own.pairs.push_back(http2_calls::pair_of("date", head.date));
  add_fields(head.fields);
  if (head.length) own.pairs.push_back(http2_calls::pair_of("content-length", length.view()));
  const auto body = http2_calls::body_of(*answering);
  const int code = nghttp2_submit_response(own.session.get(), id_of(stream), own.pairs.data(),
                                           own.pairs.size(), head.has_body ? &body : nullptr);
  if (code == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
}

// Adds the names in lower case, as HTTP/2 requires.
void http2_session::add_fields(const http_fields& fields) {
  auto& own = *state_;
  std::size_t room = 0;
  for (const auto& field : fields) room += field.first.size();
  own.names.clear();
  own.names.reserve(room);  // so that pointers into it stay valid
  for (const auto& [name, value] : fields) {
    const auto from = own.names.size();
    for (const char each : name) own.names += text::in_lower(each);
    const auto lower = std::string_view(own.names).substr(from);
    if (!http2_calls::is_of_connections(lower)) {
      own.pairs.push_back(http2_calls::pair_of(lower, value));
    }
  }
}

void http2_session::inform(std::uint32_t stream, int status, const http_fields& fields) {
  auto& own = *state_;
  const digits text(static_cast<std::uint64_t>(status));
  own.pairs.clear();
  own.pairs.push_back(http2_calls::pair_of(":status", text.view()));
  add_fields(fields);
  const int code = nghttp2_submit_headers(own.session.get(), NGHTTP2_FLAG_NONE, id_of(stream),
                                          nullptr, own.pairs.data(), own.pairs.size(), nullptr);
  if (code == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
}

// Fails if the stream is not deferred.
void http2_session::resume(std::uint32_t stream) {
  (void)nghttp2_session_resume_data(state_->session.get(), id_of(stream));
}

void http2_session::consume(std::uint32_t stream, std::size_t bytes) {
  if (bytes != 0) demand_done(nghttp2_session_consume(state_->session.get(), id_of(stream), bytes));
}

void http2_session::reset(std::uint32_t stream, http2_code why) {
  demand_done(nghttp2_submit_rst_stream(state_->session.get(), NGHTTP2_FLAG_NONE, id_of(stream),
                                        static_cast<std::uint32_t>(why)));
}

void http2_session::retire() {
  auto* const with = state_->session.get();
  const auto last = nghttp2_session_get_last_proc_stream_id(with);
  demand_done(nghttp2_submit_goaway(with, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0));
}

void http2_session::end(http2_code why) {
  demand_done(
      nghttp2_session_terminate_session(state_->session.get(), static_cast<std::uint32_t>(why)));
}

}  // namespace strata::proto
