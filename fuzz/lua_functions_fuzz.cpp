// Every function that scripts see, of every type, is called with hostile values: a call gives
// values or an error of the script, and the runtime stops afterwards with nothing left open.
//
// The bytes choose the type and then, for each call, the function and its arguments. It runs in a
// simulated world, in which nothing but files and netlink is real.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loop/async_lock.hpp"
#include "loop/backends/sim_loop.hpp"
#include "loop/backends/sim_world.hpp"
#include "loop/file_store.hpp"
#include "runtime/runtime.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/types/script_tables.hpp"
#include "runtime/types/types.hpp"

namespace {

using namespace strata;
using namespace std::chrono_literals;
using nlohmann::json;

// Made by Lua once; an argument is one of them by its number.
constexpr const char* values_text = R"lua(
local cyclic = {}
cyclic.cyclic, cyclic[1] = cyclic, cyclic
local deep = {}
for _ = 1, 200 do deep = {deep} end
local wide = {}
for n = 1, 2000 do wide[n] = n end
local odd = setmetatable({}, {__index = function() error('odd') end,
                              __tostring = function() error('odd') end})
local values = {
  0, 1, -1, 2, 16, 17, 0.5, 65536, 65537, 2^31, 2^32, 2^53, 2^63, 2^64, -2^63, 1e308, 1/0, -1/0,
  0/0, '', 'a', 'x', '\0', 'a\0b', '\255', '\254\0', ('x'):rep(70000), ('%'):rep(300),
  '127.0.0.1:0', 'tcp://127.0.0.1:1', 'tcp://127.0.0.1:70000', 'unix:///x', 'unix://',
  'ws://127.0.0.1:1/', 'http://127.0.0.1:1/', 'runtime://subject', 'redis://127.0.0.1/0',
  'redis://:%@/x', 'subject', 'server', 'cache', '@group', '../../etc/passwd', '/etc/passwd', '.',
  'nlctrl', 'getfamily', '2024-01-01', '{"a":[1,{"b":null}]}', '[[[[[[', 'sha256', 'md5', 'info',
  'SET', 'GET', 'k', '*', '(', 'a=1&b=%zz', 'R0lGOD', true, false, strata.json.null, {}, {1},
  {'a', 'b'}, {a = 1}, {a = {b = {c = '\255'}}}, {[1.5] = 1}, {[true] = 1}, {nil, 2}, cyclic, deep,
  wide, odd, {1 / 0}, {a = 0 / 0}, {url = 'http://127.0.0.1:1/', headers = {A = {'\255'}}},
  {url = 'http://127.0.0.1:1/', headers = {['a b'] = {}}, timeout_ms = 0 / 0, body = '\0'},
  {listen = {'tcp://127.0.0.1:0'}, group = '\255'}, {lua = '\0', lua_allow = {'\255'}},
  {lua = 1, lua_allow = 2, lua_unsafe = 3},
  {framing = 'line', timeout_ms = -1, max_message = 1e308},
  {database = -1, timeout_ms = 1 / 0}, {{'SET', 'k', 1}, {'GET', {}}}, {{}}, {status = 200},
  {family_name = 'nlctrl', ['\255'] = '\0'}, {dump = true}, print, function() end,
  function() error({}) end, function(...) return ... end, coroutine.create(function() end),
  strata, self, made,
}
)lua";

class byte_reader {
 public:
  explicit byte_reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool has_more() const { return position_ < bytes_.size(); }
  std::size_t take(std::size_t bound) {
    std::size_t number = has_more() ? bytes_[position_++] : 0;
    if (bound > 256 && has_more()) number = number * 256 + bytes_[position_++];
    return bound == 0 ? 0 : number % bound;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
};

class no_names final : public net::directory {
 public:
  loop::task<result<std::vector<net::endpoint_url>>> find_endpoints(loop::loop& /*loop*/,
                                                                    std::string name) override {
    co_return failure(errc::not_found, "find '" + name + "'", "there is no other runtime");
  }
  std::unique_ptr<watch> watch_members(
      loop::loop& /*asking*/, std::string /*watcher*/, std::string /*group*/,
      std::function<void(net::place_members)> /*on_members*/) override {
    return std::make_unique<watch>();
  }
};

// Takes every request, and writes options as the daemon would: what cannot be written would throw.
class compliant_service final : public runtime::runtime_service {
 public:
  loop::task<result<json>> perform(loop::loop& /*loop*/,
                                   runtime::service_request request) override {
    std::string written;
    if (request.verb == runtime::service_verb::create)
      written = request.details.at("options").dump();
    if (request.verb == runtime::service_verb::edit) written = request.details.dump();
    if (request.verb == runtime::service_verb::list) co_return json::array();
    if (request.name.empty() || written.size() % 2 == 1) {
      co_return failure(errc::invalid_argument, "perform", "it is an odd request");
    }
    co_return json{
        {"name", "x"}, {"options", json::object()}, {"endpoints", json::array()}, {"owner", ""}};
  }
  runtime::journal& events() override { return events_; }
  net::directory& names() override { return names_; }

 private:
  runtime::journal events_;
  no_names names_;
};

class stage final : private runtime::loop_source {
 public:
  explicit stage(std::uint64_t seed) : world_(seed), home_(world_.add_loop()) {}

  void run(const runtime::type_row& type, const json& options) {
    auto log = std::make_shared<runtime::journal>();
    runtime::context given{"subject",
                           home_,
                           *this,
                           service_.names(),
                           binding_,
                           log,
                           std::make_shared<runtime::journal>(0),
                           std::make_shared<runtime::tap>()};
    given.others = &service_;
    auto made = type.make(std::move(given), options);
    if (!made) return;
    auto& subject = **made;
    bool has_started = false;
    home_.spawn(start(subject, has_started));
    world_.run_until([&] { return has_started; }, 10s);
    world_.run_for(2s);
    bool has_stopped = false;
    home_.spawn(stop(subject, has_stopped));
    world_.run_until([&] { return has_stopped; }, 60s);
    if (!has_stopped) std::abort();
    made->reset();
    world_.run_for(2s);
    if (world_.open_count() != 0) std::abort();
  }

 private:
  static loop::task<> start(runtime::runtime& subject, bool& is_done) {
    [[maybe_unused]] const auto started = co_await subject.start();
    is_done = true;
  }
  loop::task<> stop(runtime::runtime& subject, bool& is_done) {
    co_await subject.stop(home_.now() + 1s);
    is_done = true;
  }

  result<std::vector<loop::loop*>> assign(std::size_t count) override {
    while (workers_.size() < count) workers_.push_back(&world_.add_loop());
    return std::vector(workers_.begin(), workers_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  void release(const std::vector<loop::loop*>& /*loops*/) override {}
  [[nodiscard]] std::size_t size() const override { return workers_.size(); }

  loop::sim_world world_;
  loop::sim_loop& home_;
  std::vector<loop::loop*> workers_;
  compliant_service service_;
  loop::async_lock binding_{home_};
};

// `self.send`, `made:receive`: all that a script of the type can call.
std::vector<std::string> calls_of(std::string_view type) {
  std::vector<std::string> calls;
  const auto add = [&calls](std::string_view table, std::span<const script::function_row> rows) {
    for (const auto& row : rows) calls.push_back(std::string(table) + std::string(row.name));
  };
  add("strata.", runtime::common_script_functions());
  add("self.", runtime::own_script_functions());
  for (const auto& table : runtime::script_tables()) {
    if (table.type == type) add("self.", table.functions);
  }
  for (const auto* const kind : runtime::script_objects()) add("made:", kind->methods);
  return calls;
}

std::string script_of(byte_reader& bytes, std::string_view type) {
  const auto calls = calls_of(type);
  std::string text = "local made = strata.redis('redis://127.0.0.1:1')\n" +
                     std::string(values_text) + "function on_start()\n";
  for (int count = 0; bytes.has_more() && count < 40; ++count) {
    const auto& function = calls[bytes.take(calls.size())];
    text += bytes.take(4) == 0 ? "made = select(2, pcall(function() return " : "pcall(function() ";
    text += function + "(";
    for (std::size_t left = bytes.take(5), place = 0; place < left; ++place) {
      text += (place == 0 ? "values[" : ", values[") + std::to_string(1 + bytes.take(110)) + "]";
    }
    text += text.rfind("made = select") > text.rfind('\n') ? ") end))\n" : ") end)\n";
  }
  return text + "end\n";
}

json options_of(std::string_view type, const std::string& script) {
  json options{{"lua", script}, {"lua_memory", 8U << 20U}, {"lua_time", 0.05}};
  if (type == "client") {
    options["target"] = "127.0.0.1:7002";
  } else {
    options["listen"] = {"tcp://127.0.0.1:7001"};
  }
  if (type == "proxy") options["backend"] = {"127.0.0.1:7002"};
  if (type == "cache") options["resp"] = true;
  return options;
}

// Of this process.
const std::string& script_path() {
  static const std::string path = [] {
    std::string pattern = "/tmp/lua_functions_XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    return pattern + "/script.lua";
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  byte_reader bytes({data, size});
  const auto types = runtime::types();
  const auto& type = types[bytes.take(types.size())];
  const auto text = script_of(bytes, type.name);
  std::FILE* const file = std::fopen(script_path().c_str(), "w");
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size())
    std::abort();
  std::fclose(file);
  stage(1).run(type, options_of(type.name, script_path()));
  return 0;
}
