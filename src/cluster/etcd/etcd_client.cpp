#include "cluster/etcd/etcd_client.hpp"

#include <fmt/format.h>

#include <utility>

#include "http/field.hpp"
#include "net/connector.hpp"

namespace strata::cluster {

using nlohmann::json;

namespace {

constexpr std::size_t most_answer = 64U << 20U;
constexpr unsigned ok = 200;

std::string operation_of(const net::endpoint_url& member, const std::string& path) {
  return fmt::format("ask etcd at {} ({})", member.text(), path);
}

/// What a status of HTTP means that is not 200.
errc code_of(unsigned status) {
  switch (status) {
    case 401:
    case 403: return errc::permission_denied;
    case 404: return errc::not_found;
    case 429: return errc::no_space;  // a quota
    default: return status < 500 ? errc::invalid_argument : errc::timed_out;
  }
}

// etcd reports an error as a JSON object with its text, in older versions under another name.
error refusal(const net::endpoint_url& member, const std::string& path, unsigned status,
              const std::string& body) {
  const auto object = json::parse(body, nullptr, false);
  std::string reason;
  if (object.is_object()) {
    for (const auto* const key : {"message", "error"}) {
      const auto found = object.find(key);
      if (reason.empty() && found != object.end() && found->is_string()) {
        reason = found->get<std::string>();
      }
    }
  }
  if (reason.empty()) reason = fmt::format("it answers with status {}", status);
  const auto code = code_of(status);
  const bool is_denied = code == errc::permission_denied || reason.contains("user name is empty");
  return {.code = code,
          .operation = operation_of(member, path),
          .reason = std::move(reason),
          .remedy = is_denied ? "give --cluster-user and --cluster-password" : ""};
}

/// What went wrong on the way to a member.
error trouble(const net::endpoint_url& member, const std::string& path, error cause) {
  cause.operation = operation_of(member, path);
  if (cause.code == errc::timed_out) cause.reason = "it does not answer, or not to the end";
  return cause;
}

/// The lines of a long answer.
class answer_lines final : public gateway_stream {
 public:
  explicit answer_lines(std::unique_ptr<http::http1_client> http) : http_(std::move(http)) {}

  loop::task<result<json>> next(loop::time_point limit) override {
    for (;;) {
      const auto end = unread_.find('\n');
      if (end != std::string::npos) {
        auto read = json::parse(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(end),
                                nullptr, false);
        unread_.erase(0, end + 1);
        if (read.is_object()) co_return read;
        co_return failure(errc::malformed, "watch etcd", "a line of its answer is no JSON object",
                          "");
      }
      auto piece = co_await http_->read(limit);
      if (!piece) co_return std::unexpected(piece.error());
      if (piece->empty()) {
        co_return failure(errc::connection_closed, "watch etcd", "it has ended the answer", "");
      }
      unread_ += *piece;
      if (unread_.size() > most_answer) {
        co_return failure(errc::limit_exceeded, "watch etcd", "a line of its answer is too long",
                          "");
      }
    }
  }

 private:
  std::unique_ptr<http::http1_client> http_;
  std::string unread_;
};

}  // namespace

etcd_client::etcd_client(loop::loop& loop, settings settings)
    : loop_(loop), settings_(std::move(settings)), turn_(loop) {}

loop::task<result<etcd_client::link>> etcd_client::connect() {
  result<link> last = failure(errc::not_found, "connect to etcd", "no member is named", "");
  for (std::size_t tries = 0; tries < settings_.members.size(); ++tries) {
    const auto member = settings_.members[present_];
    net::connecting settings{.timeout = settings_.timeout, .secure = settings_.tls};
    auto opened = co_await net::connect(loop_, member, std::move(settings));
    if (opened) {
      co_return link{.member = member,
                     .http = std::make_unique<http::http1_client>(std::move(opened->bytes))};
    }
    last = std::unexpected(opened.error());
    leave_member();
  }
  co_return last;
}

loop::task<result<void>> etcd_client::send(link& link, const std::string& path,
                                           const std::string& body) {
  proto::http_fields fields{{"host", http::host_field(link.member)},
                            {"content-type", "application/json"}};
  if (!token_.empty()) fields.emplace_back("authorization", token_);
  link.http->begin({.method = "POST",
                    .target = path,
                    .fields = fields,
                    .has_body = true,
                    .length = body.size()});
  link.http->push(std::string_view(body));
  link.http->finish();
  link.limit = loop_.now() + settings_.timeout;
  const auto head = co_await link.http->final_head(link.limit);
  if (!head) co_return std::unexpected(trouble(link.member, path, head.error()));
  if (head->status == ok) co_return result<void>{};
  const auto text = co_await link.http->read_all(most_answer, link.limit);
  co_return std::unexpected(refusal(link.member, path, head->status, text.value_or("")));
}

// A connection that has been idle may have ended: then another one is made.
loop::task<result<etcd_client::link>> etcd_client::ask(const std::string& path,
                                                       const std::string& body) {
  if (idle_.http) {
    auto link = std::exchange(idle_, {});
    const auto sent = co_await send(link, path, body);
    if (sent) co_return link;
    if (link.http->has_received()) co_return std::unexpected(sent.error());
  }
  auto link = co_await connect();
  if (!link) co_return link;
  const auto sent = co_await send(*link, path, body);
  if (sent) co_return link;
  // A member that does not answer is left; one that refuses is not.
  if (!link->http->has_received()) leave_member();
  co_return std::unexpected(sent.error());
}

loop::task<result<json>> etcd_client::exchange(const std::string& path, const json& body) {
  const auto text = body.dump();
  auto link = co_await ask(path, text);
  if (!link) co_return std::unexpected(link.error());
  const auto answer = co_await link->http->read_all(most_answer, link->limit);
  if (!answer) {
    if (answer.error().code == errc::timed_out) leave_member();
    co_return std::unexpected(trouble(link->member, path, answer.error()));
  }
  auto read = json::parse(*answer, nullptr, false);
  if (!read.is_object()) {
    co_return failure(errc::malformed, operation_of(link->member, path),
                      "its answer is no JSON object", "check that the address is etcd's");
  }
  if (link->http->is_free()) idle_ = std::move(*link);
  co_return read;
}

loop::task<result<void>> etcd_client::log_in() {
  token_.clear();
  const json body = {{"name", settings_.user}, {"password", settings_.password}};
  const auto answer = co_await exchange("/v3/auth/authenticate", body);
  if (!answer) {
    auto refused = answer.error();
    const bool is_wrong = refused.code == errc::invalid_argument;
    if (is_wrong) refused.remedy = "check --cluster-user and --cluster-password";
    co_return std::unexpected(std::move(refused));
  }
  token_ = answer->value("token", std::string());
  co_return result<void>{};
}

loop::task<result<json>> etcd_client::call(std::string path, json body) {
  const auto guard = co_await turn_.acquire();
  if (!settings_.user.empty() && token_.empty()) {
    const auto entered = co_await log_in();
    if (!entered) co_return std::unexpected(entered.error());
  }
  auto answer = co_await exchange(path, body);
  const bool is_refused = !answer && answer.error().code == errc::permission_denied;
  if (!is_refused || settings_.user.empty()) co_return answer;
  // The token may have expired.
  const auto entered = co_await log_in();
  if (!entered) co_return std::unexpected(entered.error());
  auto again = co_await exchange(path, body);
  co_return again;
}

loop::task<result<std::unique_ptr<gateway_stream>>> etcd_client::open(std::string path, json body) {
  const auto guard = co_await turn_.acquire();
  auto link = co_await connect();
  if (!link) co_return std::unexpected(link.error());
  const auto text = body.dump();
  const auto sent = co_await send(*link, path, text);
  if (!sent) {
    if (!link->http->has_received()) leave_member();
    co_return std::unexpected(sent.error());
  }
  std::unique_ptr<gateway_stream> lines = std::make_unique<answer_lines>(std::move(link->http));
  co_return lines;
}

}  // namespace strata::cluster
