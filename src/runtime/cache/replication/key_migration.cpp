#include "runtime/cache/replication/key_migration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "loop/within.hpp"
#include "proto/resp/resp_request.hpp"
#include "runtime/cache/disk/rdb.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

// Each reply is a line.
constexpr std::size_t longest_reply_line = 64U << 10U;
constexpr proto::value_limits migration_reply_limits{.max_depth = 1,
                                                     .max_bulk = longest_reply_line,
                                                     .max_values = 16,
                                                     .max_reply = longest_reply_line};
// Sends more values while fewer bytes than this wait for the network.
constexpr std::size_t most_unsent = 4U << 20U;

constexpr std::string_view cannot_connect = "IOERR error or timeout connecting to the client";
constexpr std::string_view cannot_write = "IOERR error or timeout writing to target instance";
constexpr std::string_view cannot_read = "IOERR error or timeout reading to target instance";

// Postpones commands that may change the keys, while it lives.
class key_hold {
 public:
  key_hold(pause& pause, std::vector<std::string> keys) : pause_(pause), keys_(std::move(keys)) {
    pause_.hold(keys_);
  }
  ~key_hold() { pause_.release(keys_); }
  key_hold(const key_hold&) = delete;
  key_hold& operator=(const key_hold&) = delete;

 private:
  pause& pause_;
  const pause::held_keys keys_;
};

std::string endpoint_of(const migration_request& request, bool is_secure) {
  const bool has_brackets = request.host.contains(':');
  return fmt::format(fmt::runtime(has_brackets ? "{}://[{}]:{}" : "{}://{}:{}"),
                     is_secure ? "tls" : "tcp", request.host, request.port);
}

// Redis notices only when it writes that nothing can listen there; but it refuses a sign.
bool has_port(const migration_request& request) {
  const auto port = text::parse_integer(request.port);
  return port ? *port < 0 || (*port > 0 && *port <= 65535) : request.port.starts_with('-');
}

std::string refusal_of(const proto::resp_value& reply) {
  return "ERR Target instance replied with error: " + reply.text;
}

bool is_refusal(const proto::resp_value& reply) {
  return reply.what == proto::resp_value::kind::error;
}

// Redis notices a refused connection when it writes.
std::string_view failure_of(const error& failure) {
  return failure.sys_errno == ECONNREFUSED ? cannot_write : cannot_connect;
}

}  // namespace

void key_migration::begin(client& client, migration_request request) {
  std::vector<value> values;
  auto& keys = engine_.keys();
  for (const auto& key : request.keys) {
    const entry* const found = keys.find(client.database, key, hash_of(key));
    if (found == nullptr) continue;
    const auto ttl_ms =
        found->has_expiry() ? std::max<std::int64_t>(found->expires_at_ms() - keys.now_ms(), 1) : 0;
    values.push_back({.key = key, .ttl_ms = std::to_string(ttl_ms), .payload = rdb::dump(*found)});
  }
  running_.spawn(run(client.id, client.database, std::move(request), std::move(values)));
}

loop::task<> key_migration::run(std::uint64_t client, unsigned database, migration_request request,
                                std::vector<value> values) {
  std::optional<key_hold> hold;
  if (!request.keeps_keys) hold.emplace(engine_.home().pausing(), request.keys);
  // The command must have begun to wait before it can be answered.
  co_await loop_.sleep({});
  auto transferring = transfer(request, values);
  auto done = co_await transferring;
  hooks_.begin_work();
  if (!request.keeps_keys && !done.accepted.empty()) {
    if (engine_.home().availability().has(obstacle::follows)) {
      done.error = engine_.home().availability().refusal();
    } else {
      remove(database, done.accepted);
    }
  }
  engine_.home().answer(client, [&done](class client& waiting) {
    if (done.error.empty()) {
      waiting.reply().ok();
    } else {
      waiting.reply().error(done.error);
    }
  });
  engine_.end_batch();
  hooks_.end_work();
}

loop::task<key_migration::outcome> key_migration::transfer(const migration_request& request,
                                                           const std::vector<value>& values) {
  outcome outcome;
  const auto secure = secure_->get();
  if (!has_port(request)) {
    outcome.error = cannot_write;
    co_return outcome;
  }
  auto endpoint = net::parse_endpoint(endpoint_of(request, secure != nullptr));
  if (!endpoint) {
    outcome.error = cannot_connect;
    co_return outcome;
  }
  const loop::duration timeout = std::chrono::milliseconds(request.timeout_ms);
  const redis::address server{.url = std::move(*endpoint)};
  redis::connection connection(loop_, server, migration_reply_limits);
  auto opening = connection.open({.timeout = timeout, .secure = secure}, redis::protocol::resp2);
  if (auto opened = co_await opening; !opened) {
    outcome.error = failure_of(opened.error());
    co_return outcome;
  }
  auto preparing = prepare(connection, request);
  outcome.error = co_await preparing;
  if (!outcome.error.empty()) co_return outcome;
  std::size_t sent = 0;
  for (const auto& each : values) {
    for (; sent < values.size() && connection.unsent() < most_unsent; ++sent) {
      const auto& next = values[sent];
      std::vector<std::string_view> words = {"RESTORE", next.key, next.ttl_ms, next.payload};
      if (request.replaces) words.emplace_back("REPLACE");
      std::string text;
      proto::append_command(text, words);
      connection.push(text);
    }
    auto receiving = receive(connection, timeout);
    auto reply = co_await receiving;
    if (!reply) {
      outcome.error = cannot_read;
      co_return outcome;
    }
    if (!is_refusal(*reply)) {
      outcome.accepted.push_back(each.key);
    } else if (outcome.error.empty()) {
      outcome.error = refusal_of(*reply);
    }
  }
  co_return outcome;
}

// Logs in, and selects the database: no value may be sent before, since it would get into another
// one. Returns the error.
loop::task<std::string> key_migration::prepare(redis::connection& connection,
                                               const migration_request& request) {
  std::vector<std::vector<std::string_view>> commands;
  if (request.has_password && request.user.empty()) {
    commands.push_back({"AUTH", request.password});
  } else if (request.has_password) {
    commands.push_back({"AUTH", request.user, request.password});
  }
  commands.push_back({"SELECT", request.database});
  for (const auto& each : commands) {
    std::string text;
    proto::append_command(text, each);
    connection.push(text);
    auto receiving = receive(connection, std::chrono::milliseconds(request.timeout_ms));
    auto reply = co_await receiving;
    if (!reply) co_return std::string(cannot_read);
    if (is_refusal(*reply)) co_return refusal_of(*reply);
  }
  co_return std::string();
}

loop::task<result<proto::resp_value>> key_migration::receive(redis::connection& connection,
                                                             loop::duration timeout) {
  auto receiving = loop::within(loop_, connection.receive(), loop_.now() + timeout);
  auto reply = co_await receiving;
  if (reply) co_return std::move(*reply);
  co_return failure(errc::timed_out, "migrate keys", "the other server has not answered in time");
}

void key_migration::remove(unsigned database, const std::vector<std::string>& removed) {
  auto& keys = engine_.keys();
  std::vector<std::string_view> words = {"DEL"};
  for (const auto& key : removed) {
    const auto hash = hash_of(key);
    entry* const found = keys.find(database, key, hash);
    words.emplace_back(key);
    // As in Redis, a key that was named twice has two events.
    if (found == nullptr) {
      keys.notify(event_generic, "del", key, database);
      continue;
    }
    keys.before_change(database, key);
    keys.remove(database, found, hash, event_generic, "del");
    keys.changes().record();
  }
  keys.changes().propagate(database, words);
}

}  // namespace strata::runtime::cache
