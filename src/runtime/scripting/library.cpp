#include "runtime/scripting/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "loop/call_on.hpp"
#include "net/tls/digest.hpp"
#include "runtime/scripting/cluster_functions.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/outside.hpp"
#include "runtime/scripting/service_functions.hpp"
#include "runtime/scripting/web/web_request.hpp"
#include "script/call.hpp"
#include "text/base64.hpp"
#include "text/json_text.hpp"
#include "text/percent.hpp"

namespace strata::runtime::scripting {

namespace {

using script::answers;
using script::call;

host& host_of(void* self) { return *static_cast<host*>(self); }

// --- the log

bool read_level(std::string_view name, level& level) {
  for (const auto each : {level::debug, level::info, level::warning, level::error}) {
    if (name_of(each) == name || (name == "warn" && each == level::warning)) {
      level = each;
      return true;
    }
  }
  return false;
}

// Formats a table's fields to follow a log line: `user=ann tries=3`.
std::string line_of(const nlohmann::json& fields, std::string& level_name) {
  std::string line;
  const auto add = [&line](const std::string& piece) {
    if (!line.empty()) line += ' ';
    line += piece;
  };
  if (fields.is_array()) {
    for (const auto& each : fields)
      add(each.is_string() ? each.get<std::string>() : text::write_json(each));
    return line;
  }
  if (fields.contains("message")) {
    add(fields["message"].is_string() ? fields["message"].get<std::string>()
                                      : text::write_json(fields["message"]));
  }
  for (const auto& [key, value] : fields.items()) {
    const auto text = value.is_string() ? value.get<std::string>() : text::write_json(value);
    if (key == "level") {
      level_name = text;
    } else if (key != "message") {
      add(key + "=" + text);
    }
  }
  return line;
}

void log(void* self, call& call) {
  std::string level_name(call.has(1) ? call.text(1) : "info");
  std::string line;
  if (call.is_table(0)) {
    nlohmann::json fields;
    if (!call.structure(0, fields)) return;
    line = line_of(fields, level_name);
  } else {
    line = call.shown(0);
  }
  level how{};
  if (!read_level(level_name, how)) {
    call.fail(fmt::format("'{}' is not a level: write debug, info, warning or error", level_name));
    return;
  }
  host_of(self).log(how, line);
}

// --- time

void now(void* /*self*/, call& call) {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  call.give(std::chrono::duration<double>(since).count());
}

void clock(void* self, call& call) {
  const auto since = host_of(self).on().now().time_since_epoch();
  call.give(std::chrono::duration<double>(since).count());
}

constexpr double longest_wait = 1e9;  // seconds: thirty years

loop::task<answers> sleep_for(loop::loop& on, double seconds) {
  co_await on.sleep(loop::from_seconds(seconds));
  co_return std::vector<nlohmann::json>{};
}

loop::task<answers> sleep(void* self, call& call) {
  const double wanted = call.number(0);
  if (std::isnan(wanted)) call.fail("the time is not a valid number of seconds");
  return sleep_for(host_of(self).on(), std::max(wanted, 0.0));
}

void set_timer(call& call, bool repeats) {
  const double ms = call.number(0);
  if (!(ms >= 0 && ms <= longest_wait * 1000)) {
    call.fail("the time is not a number of milliseconds from 0");
    return;
  }
  const auto after = loop::from_seconds(std::max(ms, repeats ? 1.0 : 0.0) / 1000);
  const auto id = call.by().arm(after, repeats, call.function(1));
  if (id == 0) {
    call.fail("there are already too many timers");
    return;
  }
  call.give(id);
}

void set_timeout(void* /*self*/, call& call) { set_timer(call, false); }
void set_interval(void* /*self*/, call& call) { set_timer(call, true); }
void clear_timer(void* /*self*/, call& call) { call.by().disarm(call.integer(0)); }

loop::task<answers> resolve_name(loop::loop& loop, std::string name) {
  const auto found = co_await loop.resolve(std::move(name), 0);
  if (!found) co_return std::unexpected(found.error());
  auto texts = nlohmann::json::array();
  for (const auto& each : *found) texts.push_back(each.ip());
  co_return std::vector<nlohmann::json>{std::move(texts)};
}

loop::task<answers> resolve(void* self, call& call) {
  return resolve_name(host_of(self).on(), std::string(call.text(0)));
}

// --- data

constexpr std::uint64_t most_indent = 16;  // spaces per level

void json_encode(void* /*self*/, call& call) {
  nlohmann::json value;
  if (!call.json_structure(0, value)) return;
  if (call.has(1) && call.integer(1) > most_indent) {
    return call.fail_argument(1, fmt::format("it must be 0 to {} spaces", most_indent));
  }
  call.give(std::string_view(value.dump(call.has(1) ? static_cast<int>(call.integer(1)) : -1)));
}

void json_decode(void* /*self*/, call& call) {
  const auto value = text::parse_json(call.text(0), "decode it");
  if (value) {
    call.give(*value);
  } else {
    call.refuse(describe(value.error()));
  }
}

void json_array(void* /*self*/, call& call) { call.give_as_array(0); }

void base64_encode(void* /*self*/, call& call) {
  call.give(std::string_view(text::base64_encode(as_bytes(call.text(0)))));
}

void base64_decode(void* /*self*/, call& call) {
  const auto bytes = text::base64_decode(call.text(0));
  if (!bytes) {
    call.refuse("it is not valid base64");
    return;
  }
  call.give(std::string_view(*bytes));
}

void url_encode(void* /*self*/, call& call) {
  call.give(std::string_view(text::percent_encode(call.text(0))));
}

constexpr const char* no_percent_text = "a '%' in it is not followed by two hexadecimal digits";

void url_decode(void* /*self*/, call& call) {
  const auto decoded = text::percent_decode(call.text(0), text::plus_sign::space);
  if (!decoded) return call.refuse(no_percent_text);
  call.give(std::string_view(*decoded));
}

void url_query(void* /*self*/, call& call) {
  const auto pairs = text::parse_query(call.text(0));
  if (!pairs) return call.refuse(no_percent_text);
  auto fields = nlohmann::json::object();
  for (const auto& [name, value] : *pairs) fields[name] = value;
  call.give(fields);
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char each : bytes) text += fmt::format("{:02x}", each);
  return text;
}

void give_digest(call& call, const std::string& name, const std::optional<std::string>& text,
                 bool is_raw) {
  if (!text) {
    call.fail(fmt::format("'{}' is not a digest: write md5, sha1, sha256 or sha512", name));
    return;
  }
  call.give(std::string_view(is_raw ? *text : hex(*text)));
}

void hash(void* /*self*/, call& call) {
  const std::string name(call.text(0));
  give_digest(call, name, net::digest(name, as_bytes(call.text(1))), call.truth(2));
}

void hmac(void* /*self*/, call& call) {
  const std::string name(call.text(0));
  give_digest(call, name, net::hmac(name, as_bytes(call.text(1)), as_bytes(call.text(2))),
              call.truth(3));
}

void random_bytes(void* /*self*/, call& call) {
  const auto count = call.integer(0);
  if (count > 1U << 16U) {
    call.fail("at most 65,536 bytes are possible");
    return;
  }
  call.give(std::string_view(net::random_bytes(count)));
}

// --- shared values

void shared_get(void* self, call& call) {
  const auto found = host_of(self).who().shared->get(std::string(call.text(0)));
  if (found) {
    call.give(*found);
  } else {
    call.give_nothing();
  }
}

std::optional<double> lives_of(call& call, int index) {
  if (!call.has(index)) return std::nullopt;
  const double seconds = call.number(index);
  return std::max(seconds, 0.0);
}

constexpr const char* no_room = "there is no room: strata.shared holds at most 64 MiB";

void shared_set(void* self, call& call) {
  nlohmann::json value;
  if (!call.structure(1, value)) return;
  if (!host_of(self).who().shared->set(std::string(call.text(0)), std::move(value),
                                       lives_of(call, 2))) {
    call.fail(no_room);
  }
}

void shared_add(void* self, call& call) {
  const double by = call.has(1) ? call.number(1) : 1;
  const auto sum =
      host_of(self).who().shared->add(std::string(call.text(0)), by, lives_of(call, 2));
  if (sum) {
    call.give(*sum);
  } else {
    call.fail(no_room);
  }
}

void shared_remove(void* self, call& call) {
  call.give(host_of(self).who().shared->remove(std::string(call.text(0))));
}

loop::task<answers> http(void* self, call& call) { return request_web(host_of(self), call); }

// One entry per row.
// clang-format off
constexpr script::function_row function_table[] = {
    {"log", "message: any, level?: string", "",
     "writes a line to the runtime's log; a table is written as its fields: {level='warning', "
     "message='full', n=3}",
     log},
    {"now", "", "number", "seconds since 1970, with fractions", now},
    {"clock", "", "number", "seconds of a monotonic clock, to measure durations", clock},
    {"sleep", "seconds: number", "", "waits for some seconds; other functions of the script run "
                                     "meanwhile", nullptr, sleep},
    {"set_timeout", "ms: number, call: fun()", "integer",
     "calls a function once, later; returns a number for clear_timeout", set_timeout},
    {"set_interval", "ms: number, call: fun()", "integer",
     "calls a function repeatedly; returns a number for clear_interval", set_interval},
    {"clear_timeout", "timer: integer", "", "cancels a set_timeout", clear_timer},
    {"clear_interval", "timer: integer", "", "ends a set_interval", clear_timer},
    {"resolve", "host: string", "string[]?, string?",
     "looks up the addresses of a host name, and waits for them", nullptr, resolve,
     script::right::net},
    {"http", "request: table", "table",
     "sends an HTTP request ({url=, method=, headers=, body=, timeout_ms=5000}), and waits for "
     "{ok=, status=, headers=, body=}, or {ok=false, error=}",
     nullptr, http, script::right::net},
    {"json.encode", "value: any, indent?: integer", "string",
     "a value as JSON; a table becomes an array if it has a length or strata.json.array marked it",
     json_encode},
    {"json.decode", "text: string", "any, string?",
     "the value of a JSON text, with strata.json.null for null; or nil and the reason",
     json_decode},
    {"json.array", "list: table", "table", "marks a table as an array, even if it is empty",
     json_array},
    {"json_encode", "value: any, indent?: integer", "string", "same as json.encode",
     json_encode},
    {"json_decode", "text: string", "any, string?", "same as json.decode", json_decode},
    {"base64.encode", "bytes: string", "string", "bytes as base64", base64_encode},
    {"base64.decode", "text: string", "string?, string?",
     "the bytes of base64; or nil and the reason", base64_decode},
    {"url.encode", "text: string", "string", "percent-encodes all characters except letters, "
                                             "digits and -._~",
     url_encode},
    {"url.decode", "text: string", "string?, string?",
     "decodes percent-encoding, and + as a space; or nil and the reason", url_decode},
    {"url.query", "query: string", "table?, string?",
     "the fields of a query such as a=1&b=2; the last of equal names counts; or nil and the "
     "reason", url_query},
    {"hash", "digest: string, bytes: string, raw?: boolean", "string",
     "a digest (md5, sha1, sha256, sha512) in hexadecimal, or its bytes", hash},
    {"hmac", "digest: string, key: string, bytes: string, raw?: boolean", "string",
     "a digest with a key (HMAC), in hexadecimal, or its bytes", hmac},
    {"random_bytes", "count: integer", "string", "random bytes, suitable for "
                                                 "secrets", random_bytes},
    {"shared.get", "name: string", "any", "a value shared by all loops of the runtime, or nil",
     shared_get},
    {"shared.set", "name: string, value: any, seconds?: number", "",
     "stores a value, for some seconds or without limit; it survives a reload of the script",
     shared_set},
    {"shared.add", "name: string, by?: number, seconds?: number", "number",
     "adds a number (default 1) to a value atomically, and returns the sum", shared_add},
    {"shared.remove", "name: string", "boolean", "removes a value; false if there was none",
     shared_remove},
};
// clang-format on

// A router is plain Lua.
constexpr std::string_view lines = R"lua(
local strata, type, ipairs, pairs, table_concat = strata, type, ipairs, pairs, table.concat
local gmatch = string.gmatch
strata.json.null = strata.json.decode('[null]')[1]
-- What stands where `require` looks for it are lines for editors.
package.loaded.strata = strata

local router = {}
router.__index = router

-- '/rooms/:room/*' as its pieces: a text, a name (':room'), or the rest ('*').
local function pieces_of(path)
  local pieces = {}
  for piece in gmatch(path, '[^/]+') do pieces[#pieces + 1] = piece end
  return pieces
end

local function fit(pattern, path, params)
  for at, piece in ipairs(pattern) do
    if piece == '*' then
      params.rest = table_concat(path, '/', at)
      return true
    end
    local given = path[at]
    if given == nil then return false end
    if piece:byte() == 58 then params[piece:sub(2)] = given
    elseif piece ~= given then return false end
  end
  return #pattern == #path
end

function router:on(method, path, handle)
  local route = { method = method:upper(), pieces = pieces_of(path), handle = handle }
  self.routes[#self.routes + 1] = route
  return self
end
for _, method in ipairs { 'get', 'post', 'put', 'patch', 'delete' } do
  router[method] = function(self, path, handle) return self:on(method, path, handle) end
end

-- The answer of the first route that fits; nil where none does, and 405 where another method would.
function router:answer(request)
  local path, allowed = pieces_of(request.path), {}
  for _, route in ipairs(self.routes) do
    local params = {}
    if fit(route.pieces, path, params) then
      if route.method == request.method or (route.method == 'GET' and request.method == 'HEAD') then
        request.params = params
        return route.handle(request, params)
      end
      allowed[#allowed + 1] = route.method
    end
  end
  if #allowed == 0 then return nil end
  local headers = { Allow = table_concat(allowed, ', ') }
  return { status = 405, headers = headers, body = 'method not allowed\n' }
end

function strata.router() return setmetatable({ routes = {} }, router) end
)lua";

}  // namespace

std::span<const script::function_row> common_functions() {
  static const auto all = [] {
    std::vector<script::function_row> rows(std::begin(function_table), std::end(function_table));
    std::ranges::copy(service_functions(), std::back_inserter(rows));
    std::ranges::copy(cluster_functions(), std::back_inserter(rows));
    std::ranges::copy(outside_functions(), std::back_inserter(rows));
    return rows;
  }();
  return all;
}
std::string_view common_lines() { return lines; }

}  // namespace strata::runtime::scripting
