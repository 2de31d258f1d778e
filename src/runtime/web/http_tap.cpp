#include "runtime/web/http_tap.hpp"

#include <fmt/format.h>

#include "http/served_connection.hpp"

namespace strata::runtime {

namespace {

bool is_credential(std::string_view field) {
  return field == "authorization" || field == "proxy-authorization";
}

// The scheme, such as `Basic`, is not secret.
std::string without_secret(std::string_view credential) {
  return std::string(credential.substr(0, credential.find(' '))) + " (redacted)";
}

std::string head_of(const proto::http_request& request) {
  auto head = fmt::format("{} {} HTTP/{}\r\n", request.method, request.target,
                          request.version < 11 ? "1.0" : "1.1");
  for (const auto& [name, value] : request.headers) {
    head += fmt::format("{}: {}\r\n", name, is_credential(name) ? without_secret(value) : value);
  }
  return head + "\r\n";
}

}  // namespace

std::unique_ptr<http_tap> http_tap::open(tap& tap, const std::string& name,
                                         http::exchange& exchange) {
  return tap.is_open() ? std::make_unique<http_tap>(tap, name, exchange) : nullptr;
}

http_tap::http_tap(tap& tap, const std::string& name, http::exchange& exchange)
    : tap_(tap),
      exchange_(exchange),
      client_(exchange.connection().id),
      address_(exchange.peer().address.text()),
      protocol_(exchange.is_secure() ? "https" : "http"),
      origin_(name) {
  exchange_.watch(this);
  show(tapped_form::request, head_of(exchange_.request()));
}

void http_tap::on_answer(std::string_view head) { show(tapped_form::answer, head); }

void http_tap::show(tapped_form form, std::string_view head) {
  const bool is_outgoing = form == tapped_form::answer;
  auto sender = is_outgoing ? origin_ : client_text(client_);
  auto receiver = is_outgoing ? client_text(client_) : origin_;
  tap_.write(form, is_outgoing,
             {.client = client_,
              .address = address_,
              .sender = std::move(sender),
              .receiver = std::move(receiver),
              .protocol = protocol_},
             as_bytes(head));
}

}  // namespace strata::runtime
