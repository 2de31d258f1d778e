#include "proto/http/http2_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "proto/http/http_target.hpp"
#include "text/word.hpp"

namespace strata::proto {

namespace {

constexpr std::size_t usual_fields = 12;

}  // namespace

void http2_head::begin(std::uint32_t stream) {
  made_ = {};
  made_.stream = stream;
  made_.request.version = 20;
  made_.request.keep_alive = true;
  made_.request.headers.reserve(usual_fields);
  authority_.reset();
  size_ = 0;
}

void http2_head::add(std::string_view name, std::string_view value) {
  size_ += name.size() + value.size() + field_overhead;
  if (size_ > limit_) return;
  auto& headers = made_.request.headers;
  if (name.starts_with(':')) {
    add_pseudo(name, value);
  } else if (name == "cookie") {
    add_cookie(value);
  } else {
    if (name == "content-length") {
      std::uint64_t length = 0;
      const auto* const end = value.data() + value.size();
      if (std::from_chars(value.data(), end, length).ptr == end) made_.announced_body = length;
    }
    headers.emplace_back(name, value);
  }
}

void http2_head::add_pseudo(std::string_view name, std::string_view value) {
  if (name == ":method") {
    made_.request.method = value;
  } else if (name == ":path") {
    made_.request.target = value;
  } else if (name == ":authority") {
    authority_.emplace(value);
  } else if (name == ":protocol") {
    made_.request.protocol = value;
  }
}

// A client may split the cookie field into several, so that they compress better (section 8.2.3).
void http2_head::add_cookie(std::string_view value) {
  auto& headers = made_.request.headers;
  const auto same = std::ranges::find(headers, "cookie", &http_fields::value_type::first);
  if (same == headers.end()) {
    headers.emplace_back("cookie", value);
  } else {
    same->second.append("; ").append(value);
  }
}

void http2_head::refuse(int status, errc code, std::string reason) {
  made_.refusal_status = status;
  made_.refusal = failure(code, "read the HTTP request", std::move(reason)).error();
}

// Sets `host`, so that its readers get the client's authority (section 8.3.1).
void http2_head::set_host() {
  auto& headers = made_.request.headers;
  const auto named = std::ranges::find(headers, "host", &http_fields::value_type::first);
  if (named == headers.end() && authority_) {
    headers.emplace(headers.begin(), "host", *authority_);
  } else if (named != headers.end() && authority_ && !text::same_text(named->second, *authority_)) {
    return refuse(400, errc::malformed, "its :authority and its Host differ");
  }
  const auto host = made_.request.header("host");
  if (!host || !is_host(*host)) refuse(400, errc::malformed, "its :authority is not a valid host");
}

http2_listener::arrival http2_head::take() {
  auto& request = made_.request;
  if (size_ > limit_) {
    refuse(431, errc::limit_exceeded,
           fmt::format("its fields are longer than the limit of {} bytes", limit_));
    return std::move(made_);
  }
  const bool has_protocol = !request.protocol.empty();
  if (request.method == "CONNECT" && !has_protocol) request.target = authority_.value_or("");
  set_host();
  if (!split_target(request)) {
    refuse(400, errc::malformed,
           fmt::format("its target '{}' has an invalid percent-encoding", request.target));
  } else if (has_protocol && !text::same_text(request.protocol, "websocket")) {
    refuse(501, errc::not_supported,
           fmt::format("it requests the protocol '{}'; use websocket", request.protocol));
  }
  return std::move(made_);
}

}  // namespace strata::proto
