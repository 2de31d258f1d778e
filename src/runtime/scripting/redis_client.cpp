#include "runtime/scripting/redis_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "proto/resp/resp_request.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/scripting/redis_values.hpp"
#include "text/word.hpp"

namespace strata::runtime::scripting {

using script::answers;
using script::call;

namespace {

constexpr std::size_t most_asked = 10000;
constexpr std::size_t most_unsent_requests = 64U << 20U;
constexpr const char* was_closed = "it was closed";

answers no_answer(std::string why) { return std::vector<nlohmann::json>{nullptr, std::move(why)}; }

}  // namespace

redis_client::redis_client(loop::loop& loop, net::directory* names, redis_settings settings)
    : loop_(loop), names_(names), settings_(std::move(settings)), changed_(loop) {}

void redis_client::close() {
  is_closed_ = true;
  tasks_.cancel();
  is_running_ = false;
  break_off(was_closed);
}

// Pending requests fail with `why`.
void redis_client::break_off(const std::string& why) {
  is_ready_ = false;
  trouble_ = why;
  connection_.reset();
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
  const auto limit = here.loop_.now() + here.settings_.timeout;
  const auto has_tried = [&here] { return here.is_ready_ || !here.is_running_; };
  const bool is_in_time = co_await here.changed_.wait(has_tried, limit);
  if (!is_in_time) co_return no_answer("it has not answered in time");
  if (!here.is_ready_) co_return no_answer(here.trouble_);
  if (here.asked_.size() >= most_asked || here.connection_->unsent() > most_unsent_requests) {
    co_return no_answer("too many requests already wait for an answer");
  }
  const auto mine = std::make_shared<question>(here.loop_, count);
  here.asked_.push_back(mine);
  here.connection_->push(request);
  request = {};
  const bool is_answered = co_await mine->changed.wait([&mine] { return mine->is_over(); }, limit);
  if (!is_answered) {
    // A later answer would be taken for the answer to another request.
    here.tasks_.cancel();
    here.is_running_ = false;
    here.break_off("it has not answered in time: the connection was closed");
  }
  if (!mine->trouble.empty()) co_return no_answer(mine->trouble);
  co_return script_values(std::move(mine->last));
}

loop::task<> redis_client::run() {
  connection_.emplace(loop_, settings_.server, script_reply_limits);
  auto opening = open_connection(*connection_, settings_, names_);
  const auto done = co_await opening;
  std::string why;
  if (done) {
    is_ready_ = true;
    changed_.notify();
  } else {
    why = describe(done.error());
  }
  while (is_ready_) {
    auto said = co_await connection_->receive();
    if (!said) {
      why = describe(said.error());
      break;
    }
    // Pushes are answers to no request.
    if (said->what == proto::resp_value::kind::push) continue;
    if (asked_.empty()) {
      why = "it sent an unexpected reply";
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

// --- what scripts call

namespace {

// Commands that change the connection for all functions that share it, or that have no single
// reply.
constexpr std::string_view not_shared[] = {
    "auth",         "discard", "exec",         "hello",       "monitor", "multi",      "psubscribe",
    "psync",        "quit",    "replconf",     "reset",       "select",  "ssubscribe", "subscribe",
    "sunsubscribe", "sync",    "punsubscribe", "unsubscribe", "unwatch", "watch"};

bool append_words(call& call, const std::vector<std::string_view>& words, std::string& text) {
  const auto name = text::in_small_letters(words.front());
  const bool is_silence =
      name == "client" && words.size() > 1 && text::in_small_letters(words[1]) == "reply";
  if (is_silence || std::ranges::find(not_shared, name) != std::end(not_shared)) {
    call.fail(
        fmt::format("'{}' would change the connection for all that share it: use db:multi{{…}} for "
                    "a transaction, or strata.connect for a connection of your own",
                    words.front()));
    return false;
  }
  proto::append_command(text, words);
  return true;
}

// Appends one command of `multi`: a list of words.
bool append_listed(call& call, const nlohmann::json& listed, std::string& text) {
  std::vector<std::string> texts;
  if (listed.is_array()) {
    for (const auto& each : listed) {
      if (!each.is_string() && !each.is_number()) break;
      texts.push_back(each.is_string() ? each.get<std::string>() : each.dump());
    }
  }
  if (texts.empty() || texts.size() != listed.size()) {
    call.fail("it takes a list of commands, each a list of texts and numbers");
    return false;
  }
  return append_words(call, {texts.begin(), texts.end()}, text);
}

// One entry per row.
// clang-format off
constexpr script::function_row redis_methods[] = {
    {"call", "command: string, ...", "any, string?",
     "runs a command, and waits: db:call('SET', 'k', 1), or in short db:set('k', 1); null is nil, "
     "within lists strata.json.null; an error is nil and its text",
     nullptr, script::method<&redis_client::call_one>},
    {"multi", "commands: table[]", "table?, string?",
     "runs a transaction: db:multi{{'SET', 'k', 1}, {'INCR', 'k'}} returns the list of answers; an "
     "error in it is {err=}", nullptr, script::method<&redis_client::call_together>},
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

loop::task<answers> redis_client::call_one(call& call) {
  std::vector<std::string_view> words;
  for (int at = 0; at < call.count(); ++at) {
    words.push_back(call.text(at));
    if (words.back().data() != nullptr) continue;
    call.fail(fmt::format("argument {} is neither a text nor a number", at + 1));
    return {};
  }
  std::string request;
  if (!append_words(call, words, request)) return {};
  return ask(std::static_pointer_cast<redis_client>(shared_from_this()), std::move(request), 1);
}

loop::task<answers> redis_client::call_together(call& call) {
  nlohmann::json listed;
  if (!call.structure(0, listed)) return {};
  std::string request = "*1\r\n$5\r\nMULTI\r\n";
  for (const auto& each : listed) {
    if (!append_listed(call, each, request)) return {};
  }
  request += "*1\r\n$4\r\nEXEC\r\n";
  return ask(std::static_pointer_cast<redis_client>(shared_from_this()), std::move(request),
             listed.size() + 2);
}

void redis_client::close_by(call& /*with*/) { close(); }

const script::object_kind& redis_kind() {
  static constexpr script::object_kind kind{
      "redis", "what strata.redis returns; each Redis command is a method", redis_methods,
      "fun(self: strata.redis, ...: any): any, string?"};
  return kind;
}

std::string_view redis_lines() { return redis_lua; }

void open_redis(host& host, call& call) {
  auto settings = read_redis_settings(host.rights(), call, 0, 1);
  if (!settings) return;
  auto* const others = host.who().others;
  call.give(redis_kind(),
            std::make_shared<redis_client>(
                host.on(), others == nullptr ? nullptr : &others->names(), std::move(*settings)));
}

}  // namespace strata::runtime::scripting
