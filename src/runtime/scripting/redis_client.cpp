#include "runtime/scripting/redis_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "loop/within.hpp"
#include "proto/resp_request.hpp"
#include "runtime/house.hpp"
#include "runtime/scripting/options_table.hpp"
#include "runtime/scripting/redis_values.hpp"
#include "text/word.hpp"

namespace strata::runtime::scripting {

using script::answers;
using script::call;

namespace {

constexpr double usual_answer_ms = 5000;
constexpr std::size_t most_asked = 10000;
constexpr std::size_t most_unsent_requests = 64U << 20U;
// What one answer may be: a script could hold no more.
constexpr proto::value_limits answer_limits{
    .max_bulk = 64U << 20U, .max_values = 1U << 20U, .max_reply = 64U << 20U};
constexpr const char* was_closed = "it was closed";

answers no_answer(std::string why) { return std::vector<nlohmann::json>{nullptr, std::move(why)}; }

}  // namespace

redis_client::redis_client(loop::loop& on, net::directory* names, redis_wishes how)
    : loop_(on), names_(names), how_(std::move(how)), reader_(answer_limits), changed_(on) {}

void redis_client::close() {
  is_closed_ = true;
  tasks_.cancel();
  is_running_ = false;
  break_off(was_closed);
}

// Those that wait hear of it.
void redis_client::break_off(const std::string& why) {
  is_ready_ = false;
  trouble_ = why;
  stream_.reset();
  for (const auto& each : std::exchange(asked_, {})) {
    each->trouble = why;
    each->changed.notify();
  }
  changed_.notify();
}

loop::task<answers> redis_client::ask(owned self, std::string request, std::size_t count) {
  auto& here = *self;
  if (here.is_closed_) co_return no_answer(was_closed);
  if (!std::exchange(here.is_running_, true)) here.tasks_.spawn(here.run());
  const auto limit = here.loop_.now() + here.how_.timeout;
  const auto has_tried = [&here] { return here.is_ready_ || !here.is_running_; };
  const bool is_in_time = co_await here.changed_.wait(has_tried, limit);
  if (!is_in_time) co_return no_answer("it has not answered in time");
  if (!here.is_ready_) co_return no_answer(here.trouble_);
  if (here.asked_.size() >= most_asked || here.stream_->unsent() > most_unsent_requests) {
    co_return no_answer("too much waits for its answer already");
  }
  const auto mine = std::make_shared<question>(here.loop_, count);
  here.asked_.push_back(mine);
  here.stream_->push_copy(as_bytes(request));
  request = {};
  const bool is_heard = co_await mine->changed.wait([&mine] { return mine->is_over(); }, limit);
  if (!is_heard) {
    // What it would say later would be taken for the answer to another question.
    here.tasks_.cancel();
    here.is_running_ = false;
    here.break_off("it has not answered in time: the connection was closed");
  }
  if (!mine->trouble.empty()) co_return no_answer(mine->trouble);
  co_return script_values(std::move(mine->last));
}

loop::task<> redis_client::run() {
  auto connecting = connect();
  auto done = co_await loop::within(loop_, std::move(connecting), loop_.now() + how_.timeout);
  std::string why;
  if (!done) {
    why = "cannot connect to " + how_.where.url.text() + ": it has not answered in time";
  } else if (!*done) {
    why = describe(done->error());
  } else {
    is_ready_ = true;
    changed_.notify();
  }
  while (is_ready_) {
    auto said = co_await hear();
    if (!said) {
      why = describe(said.error());
      break;
    }
    if (asked_.empty()) {
      why = "it says something that nobody has asked for";
      break;
    }
    auto& first = *asked_.front();
    first.last = std::move(*said);
    if (--first.missing != 0) continue;
    first.changed.notify();
    asked_.pop_front();
  }
  is_running_ = false;
  break_off(why);
}

loop::task<result<void>> redis_client::connect() {
  reader_ = proto::value_reader(answer_limits);
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
                      "it has messages and no bytes", "name a cache");
  }
  stream_ = std::move(made->bytes);
  co_return co_await greet();
}

loop::task<result<void>> redis_client::greet() {
  const auto& where = how_.where;
  const std::string user = where.user.empty() ? "default" : where.user;
  const bool has_password = !where.password.empty();
  auto said =
      has_password ? say({"HELLO", "3", "AUTH", user, where.password}) : say({"HELLO", "3"});
  auto greeted = co_await said;
  if (!greeted) co_return std::unexpected(greeted.error());
  using kind = proto::resp_value::kind;
  // Servers before Redis 6 do not know it.
  const bool is_old = greeted->what == kind::error && greeted->text.contains("unknown command");
  if (is_old && has_password) {
    auto auth = where.user.empty() ? say({"AUTH", where.password})
                                   : say({"AUTH", where.user, where.password});
    greeted = co_await auth;
  }
  const auto database = std::to_string(where.database);
  const bool is_refused = greeted && greeted->what == kind::error && !(is_old && !has_password);
  if (greeted && !is_refused && where.database != 0) {
    auto selected = say({"SELECT", database});
    greeted = co_await selected;
  }
  if (!greeted) co_return std::unexpected(greeted.error());
  if (greeted->what != kind::error || (is_old && !has_password && where.database == 0)) {
    co_return result<void>{};
  }
  co_return failure(errc::permission_denied, "speak with " + where.url.text(), greeted->text,
                    "check its password and its database");
}

loop::task<result<proto::resp_value>> redis_client::say(
    std::initializer_list<std::string_view> words) {
  std::string text;
  proto::append_command(text, {words.begin(), words.end()});
  stream_->push_copy(as_bytes(text));
  return hear();
}

// What is said to all who subscribe was asked for by nobody.
loop::task<result<proto::resp_value>> redis_client::hear() {
  const auto operation = "hear from " + how_.where.url.text();
  for (;;) {
    auto next = reader_.next();
    if (!next) {
      auto why = next.error();
      why.operation = operation;
      co_return std::unexpected(std::move(why));
    }
    if (*next && (*next)->what != proto::resp_value::kind::push) co_return std::move(**next);
    if (*next) continue;
    auto got = co_await stream_->receive();
    if (!got) co_return std::unexpected(got.error());
    if (got->empty()) {
      co_return failure(errc::connection_closed, operation, "it has closed the connection",
                        "ask again");
    }
    reader_.feed(got->bytes());
  }
}

// --- what scripts call

namespace {

// These change what the connection means to all that share it, or are no questions.
constexpr std::string_view not_shared[] = {
    "auth",         "discard", "exec",         "hello",       "monitor", "multi",      "psubscribe",
    "psync",        "quit",    "replconf",     "reset",       "select",  "ssubscribe", "subscribe",
    "sunsubscribe", "sync",    "punsubscribe", "unsubscribe", "unwatch", "watch"};

bool append_words(call& with, const std::vector<std::string_view>& words, std::string& to) {
  const auto name = text::in_small_letters(words.front());
  const bool is_silence =
      name == "client" && words.size() > 1 && text::in_small_letters(words[1]) == "reply";
  if (is_silence || std::ranges::find(not_shared, name) != std::end(not_shared)) {
    with.fail(
        fmt::format("'{}' would change the connection for all that share it: a transaction "
                    "is db:multi{{…}}, and strata.connect speaks with a server alone",
                    words.front()));
    return false;
  }
  proto::append_command(to, words);
  return true;
}

// One command of `multi`: a list of words.
bool append_listed(call& with, const nlohmann::json& listed, std::string& to) {
  std::vector<std::string> texts;
  if (listed.is_array()) {
    for (const auto& each : listed) {
      if (!each.is_string() && !each.is_number()) break;
      texts.push_back(each.is_string() ? each.get<std::string>() : each.dump());
    }
  }
  if (texts.empty() || texts.size() != listed.size()) {
    with.fail("it takes a list of commands, each a list of texts and numbers");
    return false;
  }
  return append_words(with, {texts.begin(), texts.end()}, to);
}

// A row is read as a row.
// clang-format off
constexpr script::function_row redis_methods[] = {
    {"call", "command: string, ...", "any, string?",
     "asks for a command, and waits: db:call('SET', 'k', 1), which db:set('k', 1) is too; nothing "
     "is nil, and within lists strata.json.null; an error is nil and its text",
     nullptr, script::method<&redis_client::call_one>},
    {"multi", "commands: table[]", "table?, string?",
     "a transaction: db:multi{{'SET', 'k', 1}, {'INCR', 'k'}} gives the list of answers, of which "
     "one that is an error is {err=}", nullptr, script::method<&redis_client::call_together>},
    {"close", "", "", "closes the connection", script::method<&redis_client::close_by>},
};
// clang-format on

constexpr std::string_view redis_lua = R"lua(
local strata, setmetatable, upper = strata, setmetatable, string.upper
local open = strata.redis
local known = {}
local clients = setmetatable({}, {__mode = 'k'})
local shared = {
  call = function(db, ...) return clients[db]:call(...) end,
  multi = function(db, commands) return clients[db]:multi(commands) end,
  close = function(db)
    local name = known[db]
    if name then known[db], known[name] = nil, nil end
    clients[db]:close()
  end,
}
local commands = setmetatable({}, {__mode = 'v'})
local by_name = {
  __index = function(_, name)
    local found = shared[name] or commands[name]
    if not found then
      local command = upper(name)
      found = function(db, ...) return clients[db]:call(command, ...) end
      commands[name] = found
    end
    return found
  end,
}
-- One for each name, as long as its options are not given.
function strata.redis(name, options)
  if not options and known[name] then return known[name] end
  local db = setmetatable({}, by_name)
  clients[db] = open(name, options)
  if not options then known[name], known[db] = db, name end
  return db
end
)lua";

}  // namespace

loop::task<answers> redis_client::call_one(call& with) {
  std::vector<std::string_view> words;
  for (int at = 0; at < with.count(); ++at) {
    words.push_back(with.text(at));
    if (words.back().data() != nullptr) continue;
    with.fail(fmt::format("argument {} is neither a text nor a number", at + 1));
    return {};
  }
  std::string request;
  if (!append_words(with, words, request)) return {};
  return ask(std::static_pointer_cast<redis_client>(shared_from_this()), std::move(request), 1);
}

loop::task<answers> redis_client::call_together(call& with) {
  nlohmann::json listed;
  if (!with.structure(0, listed)) return {};
  std::string request = "*1\r\n$5\r\nMULTI\r\n";
  for (const auto& each : listed) {
    if (!append_listed(with, each, request)) return {};
  }
  request += "*1\r\n$4\r\nEXEC\r\n";
  return ask(std::static_pointer_cast<redis_client>(shared_from_this()), std::move(request),
             listed.size() + 2);
}

void redis_client::close_by(call& /*with*/) { close(); }

const script::object_kind& redis_kind() {
  static constexpr script::object_kind kind{"redis", "what strata.redis gives", redis_methods};
  return kind;
}

std::string_view redis_lines() { return redis_lua; }

void open_redis(host& of, call& with) {
  redis_wishes how;
  auto place = parse_redis_place(with.text(0));
  if (!place) return with.fail(describe(place.error()));
  how.where = std::move(*place);
  options_table given(with, 1, {"user", "password", "database", "timeout_ms", "ca", "insecure"});
  if (auto user = given.text("user")) how.where.user = std::move(*user);
  if (auto password = given.text("password")) how.where.password = std::move(*password);
  if (const auto number = given.number("database")) {
    how.where.database = static_cast<std::uint64_t>(std::clamp(*number, 0.0, 1e9));
  }
  how.timeout = given.timeout(usual_answer_ms);
  how.tls = {.ca = given.text("ca").value_or(""), .is_insecure = given.truth("insecure")};
  if (!given.is_good()) return;
  auto* const others = of.who().others;
  with.give(redis_kind(),
            std::make_shared<redis_client>(of.on(), others == nullptr ? nullptr : &others->names(),
                                           std::move(how)));
}

}  // namespace strata::runtime::scripting
