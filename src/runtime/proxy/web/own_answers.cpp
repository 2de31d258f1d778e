#include "runtime/proxy/web/own_answers.hpp"

#include <fmt/format.h>

#include "runtime/runtime.hpp"

namespace strata::runtime::proxy {

namespace {

constexpr std::string_view plain_text = "text/plain; charset=utf-8";
constexpr std::string_view html = "text/html; charset=utf-8";

/// What clients may know about a missing answer: nothing about where backends are.
std::string_view text_for(int status) {
  switch (status) {
    case 502: return "the backend broke off, or its answer was not valid HTTP\n";
    case 503: return "no backend can be reached\n";
    default: return "the backend has not answered in time\n";
  }
}

}  // namespace

std::pair<std::string, std::string> own_answers::body_of(int status, std::string text) const {
  const auto* const page = pages_.of(status);
  if (page != nullptr) return {*page, std::string(html)};
  return {std::move(text), std::string(plain_text)};
}

void own_answers::answer(http::exchange& exchange, int status, std::string_view text,
                         proto::http_fields fields) {
  const auto* const page = pages_.of(status);
  const std::string_view body = page != nullptr ? *page : text;
  if (!body.empty()) fields.emplace_back("Content-Type", page != nullptr ? html : plain_text);
  exchange.respond({.status = status, .fields = std::move(fields)}, body);
}

void own_answers::refuse_after(http::exchange& exchange, const std::string& backend,
                               const error& why) {
  const int status = why.code == errc::timed_out ? 504 : 502;
  refuse(exchange, status, fmt::format("backend '{}': {}", backend, describe(why)));
}

void own_answers::refuse(http::exchange& exchange, int status, const std::string& why) {
  note_refusal(exchange, status, why);
  answer(exchange, status, text_for(status));
}

void own_answers::refuse_as_full(http::exchange& exchange, const std::string& why) {
  note_refusal(exchange, 503, why);
  answer(exchange, 503, "all backends are busy\n", {{"Retry-After", "1"}});
}

void own_answers::note_refusal(const http::exchange& exchange, int status, const std::string& why) {
  means_.counted.errors.add();
  means_.log.write_few(
      fmt::format("answer {}", status), level::error,
      fmt::format("client {} was answered {}: {}", exchange.peer().address.text(), status, why));
}

}  // namespace strata::runtime::proxy
