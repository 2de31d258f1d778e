#include "script/machine.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "loop/backends/sim_loop.hpp"
#include "loop/backends/sim_world.hpp"
#include "script/asked.hpp"

namespace strata::script {
namespace {

using namespace std::chrono_literals;

constexpr callback_row callbacks[] = {{"on_start", "", "", ""},
                                      {"on_message", "m: string", "", ""}};
constexpr std::size_t on_start = 0;
constexpr std::size_t on_message = 1;

// A number that is kept outside of the script.
class box final : public object {
 public:
  explicit box(loop::loop& loop) : changed_(loop) { ++alive; }
  ~box() override { --alive; }
  void close() override {
    is_closed_ = true;
    changed_.notify();
  }
  void put(call& call) { value_ = call.number(0); }
  void take(call& call) { call.give(value_); }
  loop::task<answers> end(call& /*with*/) {
    return await_end(std::static_pointer_cast<box>(shared_from_this()));
  }

  static inline int alive = 0;

 private:
  static loop::task<answers> await_end(std::shared_ptr<box> self) {
    const bool is_there = co_await self->changed_.wait([&self] { return self->is_closed_; });
    co_return std::vector<nlohmann::json>{is_there ? "closed" : "gone"};
  }
  loop::condition changed_;
  double value_ = 0;
  bool is_closed_ = false;
};

constexpr function_row box_methods[] = {
    {"put", "n: number", "", "", method<&box::put>},
    {"take", "", "number", "", method<&box::take>},
    {"await_end", "", "string", "", nullptr, method<&box::end>},
};
constexpr object_kind box_kind{"box", "", box_methods};

// Fields that count how often they are read.
class counted_fields final : public lazy_table {
 public:
  [[nodiscard]] nlohmann::json field(std::string_view name) const override {
    if (name == "nothing") return nullptr;
    ++readings;
    return {{"name", name}};
  }
  mutable int readings = 0;
};

class script_test : public testing::Test, public observer {
 protected:
  void host(const std::string& text, const settings& settings = {}) {
    auto made = machine::make(loop_, settings, *this);
    ASSERT_TRUE(made) << describe(made.error());
    machine_ = std::move(*made);
    machine_->add({"host", functions, ""}, this);
    machine_->make_kind(box_kind);
    const auto loaded = machine_->load_text(text, "test.lua", callbacks);
    if (!loaded) refusal_ = describe(loaded.error());
  }
  // Returns the result of on_start with this body, as text.
  std::string run(const std::string& body, const settings& settings = {}) {
    host("function on_start()\n" + body + "\nend", settings);
    if (!refusal_.empty()) return refusal_;
    return start();
  }
  std::string start(std::size_t callback = on_start, std::vector<argument> arguments = {}) {
    std::optional<std::string> given;
    loop_.spawn(ask_it(given, callback, std::move(arguments)));
    world_.run_until([&] { return given.has_value(); }, 10s);
    return given.value_or("(no end)");
  }

  std::string last_error() const { return errors_.empty() ? "" : errors_.back(); }

  loop::sim_world world_{1};
  loop::loop& loop_ = world_.add_loop();
  std::unique_ptr<machine> machine_;
  std::string refusal_;
  std::vector<std::string> errors_;
  std::vector<std::string> printed_;
  int weighed_ = 0;

  loop::task<> ask_it(std::optional<std::string>& given, std::size_t callback,
                      std::vector<argument> text) {
    given = co_await ask(*machine_, callback, std::move(text), [](const finished& outcome) {
      if (outcome.has_failed()) return std::string("(failed)");
      const auto value = outcome.structure();
      if (!value) return describe(value.error());
      return value->is_string() ? value->get<std::string>() : value->dump();
    });
  }

 private:
  void on_error(const std::string& text) override { errors_.push_back(text); }
  void on_print(const std::string& line) override { printed_.push_back(line); }
  void on_run(const callback_run&) override {}

  void add(call& call) { call.give(call.number(0) + call.number(1)); }
  void weigh(call& /*with*/) { ++weighed_; }
  void later(call& call) {
    call.give(machine_->arm(loop::from_seconds(call.number(0)), false, call.function(1)));
  }
  void make_box(call& call) { call.give(box_kind, std::make_shared<box>(loop_)); }
  loop::task<answers> fetch_box(call& call) {
    const double seconds = call.number(0);
    if (!call.give(box_kind, std::make_shared<box>(loop_))) return {};
    return seconds < 0 ? refuse_it() : nothing_after(loop_, seconds);
  }
  static loop::task<answers> nothing_after(loop::loop& on, double seconds) {
    if (seconds > 0) co_await on.sleep(loop::from_seconds(seconds));
    co_return std::vector<nlohmann::json>{};
  }
  static loop::task<answers> refuse_it() { co_return failure(errc::conflict, "fetch it", "no"); }
  loop::task<answers> sleep(call& call) { return sleep_for(loop_, call.number(0)); }
  static loop::task<answers> sleep_for(loop::loop& on, double seconds) {
    co_await on.sleep(loop::from_seconds(seconds));
    co_return std::vector<nlohmann::json>{"slept"};
  }

  static constexpr function_row functions[] = {
      {"add", "a: number, b: number", "number", "", method<&script_test::add>},
      {"weigh", "what: any", "", "", method<&script_test::weigh>},
      {"later", "s: number, f: function", "integer", "", method<&script_test::later>},
      {"make_box", "", "box", "", method<&script_test::make_box>},
      {"fetch_box", "s: number", "box", "", nullptr, method<&script_test::fetch_box>},
      {"sleep", "s: number", "string", "", nullptr, method<&script_test::sleep>},
  };
};

TEST_F(script_test, calls_functions_and_gives_values) {
  EXPECT_EQ(run("return host.add(1, 2)"), "3");
  EXPECT_EQ(run("return host.add('1', ' 2 ')"), "3");
  EXPECT_EQ(run("return {a = {1, 2}, b = 'x'}"), R"({"a":[1,2],"b":"x"})");
  EXPECT_EQ(run("return 'a\\0b'"), std::string("a\0b", 3));
}

TEST_F(script_test, wrong_arguments_are_told_with_their_place) {
  EXPECT_EQ(run("host.add('x', 2)"), "(failed)");
  EXPECT_NE(
      last_error().find("test.lua:2: host.add: argument 1 (a) is string, it must be a number"),
      std::string::npos)
      << last_error();
  run("host.add(1)");
  EXPECT_NE(last_error().find("argument 2 (b) is missing"), std::string::npos) << last_error();
  run("host.add(1, 2, 3)");
  EXPECT_NE(last_error().find("got 3 arguments, it takes 2"), std::string::npos) << last_error();
}

TEST_F(script_test, objects_live_as_long_as_somebody_has_them) {
  EXPECT_EQ(run("local b = host.make_box() b:put(7) return b:take()"), "7");
  EXPECT_EQ(run("kept = host.fetch_box(1) kept:put(8) return kept:take()"), "8");
  EXPECT_EQ(box::alive, 1);
  EXPECT_EQ(run("return select('#', host.fetch_box(0)), (host.fetch_box(-1))"), "1");
  EXPECT_EQ(run("local b, why = host.fetch_box(-1) return why"), "cannot fetch it: no");
  EXPECT_EQ(
      run("for i = 1, 10 do host.fetch_box(0) end collectgarbage() collectgarbage() return 1"),
      "1");
  EXPECT_EQ(box::alive, 0);
}

TEST_F(script_test, objects_are_known_by_their_kind_and_bounded) {
  run("host.make_box().put(1)");
  EXPECT_NE(last_error().find("box:put: called without its object: write a colon"),
            std::string::npos)
      << last_error();
  run("host.make_box().take({})");
  EXPECT_NE(last_error().find("write a colon"), std::string::npos) << last_error();
  run("host.make_box():put('x')");
  EXPECT_NE(last_error().find("argument 1 (n) is string"), std::string::npos) << last_error();
  EXPECT_EQ(run("return getmetatable(host.make_box())"), "false");
  EXPECT_EQ(run("for i = 1, 1000 do host.make_box() end return 1", {.most_objects = 10}), "1");
  EXPECT_EQ(
      run("local all = {} for i = 1, 11 do all[i] = host.make_box() end", {.most_objects = 10}),
      "(failed)");
  EXPECT_NE(last_error().find("10 objects already"), std::string::npos) << last_error();
}

TEST_F(script_test, objects_close_when_their_machine_retires_and_go_with_it) {
  host("function on_start() kept = host.make_box() return kept:await_end() end");
  std::optional<std::string> given;
  loop_.spawn(ask_it(given, on_start, {}));
  machine_->retire();
  world_.run_until([&] { return given.has_value(); }, 10s);
  EXPECT_EQ(given, "closed");
  EXPECT_EQ(run("kept = host.make_box() host.later(0, function() kept:await_end() end) "
                "host.sleep(1) return 1"),
            "1");
  EXPECT_EQ(machine_->waiting(), 1U);
  machine_.reset();
  EXPECT_EQ(box::alive, 0);
}

TEST_F(script_test, what_need_not_wait_does_not_pile_up) {
  EXPECT_EQ(run("local n = 0 for i = 1, 1e5 do if host.fetch_box(0) then n = n + 1 end end "
                "return n"),
            "100000");
}

TEST_F(script_test, a_handler_that_waits_goes_on) {
  EXPECT_EQ(run("local a = host.sleep(1) return a .. host.sleep(2)"), "sleptslept");
  EXPECT_EQ(run("local ok, a = pcall(function() return host.sleep(1) end) return a"), "slept");
  EXPECT_EQ(run("local co = coroutine.wrap(function() coroutine.yield(host.sleep(1)) "
                "return 'b' end) return co() .. co()"),
            "sleptb");
  EXPECT_EQ(machine_->waiting(), 0U);
}

TEST_F(script_test, coroutines_keep_what_they_give) {
  EXPECT_EQ(run("local co = coroutine.create(function(a) local b, c = coroutine.yield(a, nil) "
                "return b, c end) local n = select('#', coroutine.resume(co, 1)) "
                "local t = {coroutine.resume(co, 2, 3)} return {n, t[2], t[3]}"),
            "[3,2,3]");
  EXPECT_EQ(run("local co = coroutine.wrap(function() error('x', 0) end) "
                "local ok, why = pcall(co) return why"),
            "x");
}

TEST_F(script_test, a_machine_goes_while_handlers_wait) {
  host("function on_start() host.sleep(100) end");
  machine_->start(on_start, {});
  world_.run_for(1s);
  EXPECT_EQ(machine_->waiting(), 1U);
  machine_.reset();
  world_.run_for(200s);
}

TEST_F(script_test, too_many_that_wait_are_refused) {
  host("function on_start() host.sleep(100) end", {.most_waiting = 3});
  for (int i = 0; i < 5; ++i) machine_->start(on_start, {});
  EXPECT_EQ(machine_->waiting(), 3U);
  ASSERT_EQ(errors_.size(), 2U);
  EXPECT_NE(last_error().find("3 handlers already wait"), std::string::npos) << last_error();
}

TEST_F(script_test, timers) {
  EXPECT_EQ(run("host.later(1, function() print('fired', 1) end) return host.sleep(2)"), "slept");
  EXPECT_EQ(printed_, std::vector<std::string>{"fired\t1"});
}

// Each must end soon with an error that names the file, and the machine must continue to work.
struct endless {
  const char* what;
  const char* body;
};
class endless_test : public script_test, public testing::WithParamInterface<endless> {};

TEST_P(endless_test, is_stopped) {
  host("function on_message() return 'heard' end function on_start()\n" +
           std::string(GetParam().body) + "\nend",
       {.most_time = 20ms});
  ASSERT_EQ(refusal_, "");
  EXPECT_EQ(start(), "(failed)");
  const auto reported = last_error();
  EXPECT_NE(reported.find("--lua-time"), std::string::npos) << reported;
  EXPECT_NE(reported.find("test.lua"), std::string::npos) << reported;
  EXPECT_EQ(start(on_message), "heard");
}

INSTANTIATE_TEST_SUITE_P(
    all, endless_test,
    testing::Values(
        endless{"loop", "while true do end"},
        endless{"calls",
                "local function f() end "
                "while true do f() end"},
        endless{"library", "while true do string.upper('x') end"},
        endless{"pcall", "while true do pcall(function() while true do end end) end"},
        endless{"xpcall",
                "while true do xpcall(function() while true do end end, function() "
                "while true do end end) end"},
        endless{"coroutine", "local co = coroutine.wrap(function() while true do end end) co()"},
        endless{"resumed",
                "while true do coroutine.resume(coroutine.create(function() "
                "while true do end end)) end"},
        endless{"pattern", "local s = ('a'):rep(40) return s:find(('a?'):rep(40) .. s .. 'b')"},
        endless{"pattern2", "return (('a'):rep(30000)):match('.-.-.-.-b')"},
        endless{"gsub", "return (('a'):rep(3000)):gsub('.-.-b', '')"},
        endless{"sort", "local t = {} for i = 1, 1e6 do t[i] = i % 1000 end table.sort(t)"},
        endless{"sorted",
                "local t = {} for i = 1, 1e4 do t[i] = i end "
                "while true do table.sort(t, function(a, b) return a < b end) end"},
        endless{"concat",
                "local t = {} for i = 1, 1e5 do t[i] = 'xxxxxxxxxxxx' end "
                "while true do table.concat(t) end"},
        endless{"load", "while true do load('return 1') end"},
        endless{"tostring",
                "setmetatable(_G, {__index = function(_, k) while true do end end}) "
                "return nothing"}),
    [](const auto& one) { return std::string(one.param.what); });

// An instruction that takes long is noticed when it is over, and not hundreds of instructions
// later. Here nothing may take any time.
class long_instruction_test : public script_test, public testing::WithParamInterface<endless> {};

TEST_P(long_instruction_test, is_the_last_one) {
  host("function on_start() for _ = 1, 1000 do host.weigh(1) " + std::string(GetParam().body) +
           " end end",
       {.most_time = 0ms});
  ASSERT_EQ(refusal_, "");
  machine_->set("host", "long", std::string(2U << 20U, 'x'));
  machine_->set("host", "list", nlohmann::json(std::vector<int>(200'000)));
  EXPECT_EQ(start(), "(failed)");
  EXPECT_NE(last_error().find("--lua-time"), std::string::npos) << last_error();
  EXPECT_LE(weighed_, 10);
}

INSTANTIATE_TEST_SUITE_P(all, long_instruction_test,
                         testing::Values(endless{"program", "host.weigh(host.long)"},
                                         endless{"program_with_list", "host.weigh(host.list)"},
                                         endless{"pcall", "pcall(host.weigh, host.long)"},
                                         endless{"plain_find",
                                                 "string.find(host.long, 'xy', 1, true)"},
                                         endless{"library", "string.upper(host.long)"},
                                         endless{"number", "tonumber(host.long)"},
                                         endless{"comparison", "local is = host.long < host.long"},
                                         endless{"collection", "collectgarbage()"}),
                         [](const auto& one) { return std::string(one.param.what); });

TEST_F(script_test, a_chunk_that_never_ends_is_refused) {
  host("while true do end", {.most_time = 20ms});
  EXPECT_NE(refusal_.find("test.lua:1: the handler was stopped"), std::string::npos) << refusal_;
}

TEST_F(script_test, memory_has_a_limit_and_the_machine_goes_on) {
  const settings little{.most_memory = 4U << 20U, .most_time = 10s};
  for (const char* const bomb :
       {"local t = {} for i = 1, 1e9 do t[i] = {} end", "return ('x'):rep(1e9)",
        "local s = 'x' while true do s = s .. s end", "local t = {} while true do t = {t} end",
        "local t = {} for i = 1, 1e9 do t[i] = coroutine.create(print) end",
        "return ('x'):rep(1e6):gsub('x', ('y'):rep(1e3))"}) {
    errors_.clear();
    EXPECT_EQ(run(bomb, little), "(failed)") << bomb;
    EXPECT_NE(last_error().find("not enough memory"), std::string::npos)
        << bomb << ": " << last_error();
  }
  EXPECT_EQ(run("for i = 1, 1e5 do local s = ('x'):rep(1e4) .. i end return 'done'", little),
            "done");
}

TEST_F(script_test, deep_recursion_is_an_error) {
  EXPECT_EQ(run("local function f() return 1 + f() end f()"), "(failed)");
  EXPECT_NE(last_error().find("stack overflow"), std::string::npos) << last_error();
  // Nesting on the thread's stack ends long before that, and before time or memory run out.
  const settings ample{.most_memory = 1U << 30U, .most_time = 60s};
  for (const char* const body :
       {"local function f() return coroutine.wrap(f)() end f()",
        "local function f() local ok, why = coroutine.resume(coroutine.create(f)) "
        "if not ok then error(why, 0) end end f()",
        "local function f() return coroutine.wrap(function() ('x'):gsub('x', f) end)() end f()",
        "local function f() coroutine.wrap(function() table.sort({1, 2}, f) end)() end f()",
        "local t = {} setmetatable(t, {__index = function() return ('x'):gsub('x', t) end}) "
        "return t.x",
        "local function f() coroutine.wrap(function() return string.format('%s', setmetatable({}, "
        "{__tostring = f})) end)() return '' end f()"}) {
    EXPECT_EQ(run(body, ample), "(failed)") << body;
    EXPECT_NE(last_error().find("stack overflow"), std::string::npos) << last_error() << body;
  }
  run("local function f() return coroutine.wrap(f)() end error(setmetatable({}, {__tostring = f}))",
      ample);
  EXPECT_NE(last_error().find("cannot be shown"), std::string::npos) << last_error();
  EXPECT_EQ(run("local t = {} for i = 1, 100 do t = {t} end return t"),
            "cannot take the value that the script returns: it holds tables nested 65 deep; return "
            "texts, numbers, booleans and tables of them");
}

TEST_F(script_test, errors_of_any_kind_are_shown) {
  run("error('plain')");
  EXPECT_NE(last_error().find("test.lua:2: plain\nstack traceback:"), std::string::npos);
  run("error({})");
  EXPECT_NE(last_error().find("table: 0x"), std::string::npos) << last_error();
  run("error(setmetatable({}, {__tostring = function() return 'said' end}))");
  EXPECT_NE(last_error().find("said"), std::string::npos) << last_error();
  run("error(setmetatable({}, {__tostring = function() error('again') end}))");
  EXPECT_NE(last_error().find("cannot be shown"), std::string::npos) << last_error();
  run("error(setmetatable({}, {__tostring = function() while true do end end}))",
      {.most_time = 20ms});
  EXPECT_NE(last_error().find("cannot be shown"), std::string::npos) << last_error();
  run("coroutine.yield(1)");
  EXPECT_NE(last_error().find("yields outside its own coroutine"), std::string::npos);
}

TEST_F(script_test, what_leads_out_of_the_machine_is_not_there) {
  for (const char* const name :
       {"io", "debug", "ffi", "jit", "dofile", "loadfile", "newproxy", "getfenv", "setfenv",
        "os.execute", "os.exit", "os.remove", "os.rename", "os.tmpname", "os.getenv", "string.dump",
        "package.loadlib", "package.cpath", "package.loaders"}) {
    EXPECT_EQ(run(std::string("return type(") + name + ")"), "nil") << name;
  }
  EXPECT_EQ(run("return type(getmetatable(''))"), "boolean");
  EXPECT_EQ(run("local f, why = load('\\27LJ\\2') return why"),
            "attempt to load chunk with wrong mode");
  host("\x1bLJ\x02");
  EXPECT_FALSE(refusal_.empty());
}

TEST_F(script_test, unsafe_scripts_have_it_all) {
  EXPECT_EQ(run("return type(io.open) .. type(debug.getinfo) .. type(require('ffi').cast)",
                {.is_unsafe = true}),
            "functionfunctionfunction");
}

TEST_F(script_test, what_is_no_callback_is_refused) {
  host("on_start = 1");
  EXPECT_NE(refusal_.find("'on_start' is not a function"), std::string::npos) << refusal_;
  host("function on_start( end");
  EXPECT_NE(refusal_.find("test.lua:1:"), std::string::npos) << refusal_;
  host("host.sleep(1)");
  EXPECT_NE(refusal_.find("it waits while it is being loaded"), std::string::npos) << refusal_;
}

TEST_F(script_test, fields_are_made_once_and_when_they_are_read) {
  host("function on_start(t) return {t.a.name, t.a == t.a, t.nothing == nil, t[1] == nil} end");
  counted_fields of;
  EXPECT_EQ(start(on_start, {&of}), R"(["a",true,true,true])");
  EXPECT_EQ(of.readings, 1);
  EXPECT_EQ(start(on_start, {&of}), R"(["a",true,true,true])");
  EXPECT_EQ(of.readings, 1);
}

TEST_F(script_test, what_a_handler_sets_in_such_a_table_the_next_one_has) {
  host("function on_start(t) t.nothing = (t.nothing or 0) + 1 return t.nothing end");
  counted_fields of;
  EXPECT_EQ(start(on_start, {&of}), "1");
  EXPECT_EQ(start(on_start, {&of}), "2");
}

TEST_F(script_test, fields_end_with_what_they_are_of) {
  host(
      "function on_start(t) kept = t return t.a.name end "
      "function on_message() return {kept.a.name, kept.b == nil} end");
  {
    counted_fields of;
    EXPECT_EQ(start(on_start, {&of}), "a");
  }
  EXPECT_EQ(start(on_message), R"(["a",true])");
}

TEST_F(script_test, fields_outlive_their_machine) {
  counted_fields of;
  host("function on_start(t) return t.a.name end");
  EXPECT_EQ(start(on_start, {&of}), "a");
  machine_.reset();
  host("function on_start(t) return t.b.name end");
  EXPECT_EQ(start(on_start, {&of}), "b");
}

TEST_F(script_test, patterns_are_those_of_lua) {
  EXPECT_EQ(run("return {('key = value'):match('^(%w+)%s*=%s*(%w+)$')}"), R"(["key","value"])");
  EXPECT_EQ(run("return {('hello world'):find('o w')}"), "[5,7]");
  EXPECT_EQ(run("return {('a.b'):find('.', 2, true)}"), "[2,2]");
  EXPECT_EQ(run("return {('abc'):find('b()')}"), "[2,2,3]");
  EXPECT_EQ(run("return (('THE (quick) fox'):find('%((%a+)%)'))"), "5");
  EXPECT_EQ(run("return {('hello'):gsub('l+', '<%0>')}"), R"(["he<ll>o",1])");
  EXPECT_EQ(run("return {('abc'):gsub('', '-')}"), R"(["-a-b-c-",4])");
  EXPECT_EQ(run("return {('abc abc'):gsub('%w+', {abc = 'x'}, 1)}"), R"(["x abc",1])");
  EXPECT_EQ(run("return (('x^2'):gsub('%^', '%%'))"), "x%2");
  EXPECT_EQ(run("local t = {} for k, v in ('a=1,b=2'):gmatch('(%w)=(%w)') do t[#t+1] = k..v end "
                "return t"),
            R"(["a1","b2"])");
  EXPECT_EQ(run("return ('f(a(b)c)d'):match('%b()')"), "(a(b)c)");
  EXPECT_EQ(run("return ('THE (quick) fox'):match('%f[%a]%l+')"), "quick");
  EXPECT_EQ(run("return ('[]'):match('[]]')"), "]");
  EXPECT_EQ(run("return ('a-b'):match('[a%-]+')"), "a-");
  EXPECT_EQ(run("return ('xyx'):match('(x)y%1')"), "x");
  EXPECT_EQ(run("return ('ab'):rep(3, ',')"), "ab,ab,ab");
  for (const char* const wrong :
       {"('x'):find('[')", "('x'):find('%')", "('x'):match('(x')", "('x'):match('x)')",
        "('x'):match('%1')", "('x'):find('%f')", "('x'):gsub('x', '%2')", "('x'):match('%bx')"}) {
    EXPECT_EQ(run(std::string("return ") + wrong), "(failed)") << wrong;
  }
}

TEST_F(script_test, sorts) {
  EXPECT_EQ(run("local t = {5, 3, 9, 1, 1, 7} table.sort(t) return t"), "[1,1,3,5,7,9]");
  EXPECT_EQ(run("local t = {'b', 'a'} table.sort(t, function(a, b) return a > b end) return t"),
            R"(["b","a"])");
  EXPECT_EQ(run("local t = {1, 'x'} table.sort(t)"), "(failed)");
}

}  // namespace
}  // namespace strata::script
