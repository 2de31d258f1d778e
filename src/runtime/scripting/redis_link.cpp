#include "runtime/scripting/redis_link.hpp"

#include <algorithm>
#include <utility>

#include "loop/within.hpp"
#include "proto/resp/resp_request.hpp"
#include "runtime/scripting/options_table.hpp"

namespace strata::runtime::scripting {

namespace {

constexpr double usual_answer_ms = 5000;
// Limits of one answer: a script could not hold more.
constexpr proto::value_limits answer_limits{
    .max_bulk = 64U << 20U, .max_values = 1U << 20U, .max_reply = 64U << 20U};

}  // namespace

std::optional<redis_wishes> read_redis_wishes(const script_rights& rights, script::call& call,
                                              int which_place, int which_options) {
  redis_wishes how;
  auto place = parse_redis_place(call.text(which_place));
  if (!place) {
    call.fail(describe(place.error()));
    return std::nullopt;
  }
  if (place->url.scheme->form == net::url_form::path) {
    if (auto allowed = check_unix_path(rights, place->url.path); !allowed) {
      call.fail(describe(allowed.error()));
      return std::nullopt;
    }
  }
  how.where = std::move(*place);
  options_table given(call, which_options,
                      {"user", "password", "database", "timeout_ms", "ca", "insecure"});
  if (auto user = given.text("user")) how.where.user = std::move(*user);
  if (auto password = given.text("password")) how.where.password = std::move(*password);
  if (const auto number = given.number("database")) {
    how.where.database = static_cast<std::uint64_t>(std::clamp(*number, 0.0, 1e9));
  }
  how.timeout = given.timeout(usual_answer_ms);
  how.tls = {.ca = given.text("ca").value_or(""), .is_insecure = given.truth("insecure")};
  if (!given.is_good()) return std::nullopt;
  return how;
}

redis_link::redis_link(loop::loop& loop, net::directory* names, const redis_wishes& wishes)
    : loop_(loop), names_(names), how_(wishes), reader_(answer_limits) {}

loop::task<result<void>> redis_link::open() {
  auto connecting = connect();
  auto done = co_await loop::within(loop_, std::move(connecting), loop_.now() + how_.timeout);
  if (done) co_return std::move(*done);
  co_return failure(errc::timed_out, "connect to " + how_.where.url.text(),
                    "it has not answered in time", "check whether it hangs, or raise timeout_ms");
}

loop::task<result<void>> redis_link::connect() {
  net::connecting how{.timeout = how_.timeout, .names = names_};
  if (how_.where.url.scheme->is_secure) {
    auto secure = net::tls_context::for_client(how_.tls);
    if (!secure) co_return std::unexpected(secure.error());
    how.secure = std::move(*secure);
  }
  auto made = co_await net::connect(loop_, how_.where.url, std::move(how));
  if (!made) co_return std::unexpected(made.error());
  if (!made->bytes) {
    co_return failure(errc::invalid_argument, "connect to " + how_.where.url.text(),
                      "it has messages, not bytes", "name a cache");
  }
  stream_ = std::move(made->bytes);
  co_return co_await greet();
}

loop::task<result<void>> redis_link::greet() {
  const auto& where = how_.where;
  const std::string user = where.user.empty() ? "default" : where.user;
  const bool has_password = !where.password.empty();
  auto said =
      has_password ? ask({"HELLO", "3", "AUTH", user, where.password}) : ask({"HELLO", "3"});
  auto greeted = co_await said;
  if (!greeted) co_return std::unexpected(greeted.error());
  using kind = proto::resp_value::kind;
  // Servers before Redis 6 do not know HELLO.
  const bool is_old = greeted->what == kind::error && greeted->text.contains("unknown command");
  if (is_old && has_password) {
    auto auth = where.user.empty() ? ask({"AUTH", where.password})
                                   : ask({"AUTH", where.user, where.password});
    greeted = co_await auth;
  }
  const auto database = std::to_string(where.database);
  const bool is_refused = greeted && greeted->what == kind::error && !(is_old && !has_password);
  if (greeted && !is_refused && where.database != 0) {
    auto selected = ask({"SELECT", database});
    greeted = co_await selected;
  }
  if (!greeted) co_return std::unexpected(greeted.error());
  if (greeted->what != kind::error || (is_old && !has_password && where.database == 0)) {
    co_return result<void>{};
  }
  co_return failure(errc::permission_denied, "speak with " + where.url.text(), greeted->text,
                    "check its password and its database");
}

loop::task<result<proto::resp_value>> redis_link::ask(
    std::initializer_list<std::string_view> words) {
  std::string text;
  proto::append_command(text, {words.begin(), words.end()});
  stream_->push_copy(as_bytes(text));
  return receive();
}

loop::task<result<proto::resp_value>> redis_link::receive() {
  const auto operation = "receive from " + how_.where.url.text();
  for (;;) {
    auto next = reader_.next();
    if (!next) {
      auto why = next.error();
      why.operation = operation;
      co_return std::unexpected(std::move(why));
    }
    if (*next) co_return std::move(**next);
    auto got = co_await stream_->receive();
    if (!got) co_return std::unexpected(got.error());
    if (got->empty()) {
      co_return failure(errc::connection_closed, operation, "it has closed the connection",
                        "ask again");
    }
    reader_.feed(got->bytes());
  }
}

}  // namespace strata::runtime::scripting
