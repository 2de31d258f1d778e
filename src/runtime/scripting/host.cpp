#include "runtime/scripting/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "loop/within.hpp"
#include "options/locations.hpp"
#include "runtime/event.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/scripting/cluster_functions.hpp"
#include "runtime/scripting/evaluation.hpp"
#include "runtime/scripting/library.hpp"
#include "runtime/scripting/outside.hpp"
#include "runtime/scripting/service_functions.hpp"
#include "text/readable.hpp"

namespace strata::runtime::scripting {

using namespace std::chrono_literals;

namespace {

constexpr double usual_tick_ms = 100;
constexpr double shortest_tick_ms = 10;
constexpr auto between_looks = 500ms;  // between checks of the script's file
script::step call_of(callback callback, std::uint64_t id, std::string_view message) {
  const auto row = static_cast<std::size_t>(callback);
  const auto number = static_cast<double>(id);
  if (callback == callback::message)
    return {.callback = row, .with = {message, number}, .count = 2};
  const bool has_message = callback == callback::client_message || callback == callback::upstream ||
                           callback == callback::master_auth;
  return {.callback = row, .with = {number, message}, .count = has_message ? 2U : 1U};
}

// The sender waits for it, and so does a stop behind the sender.
constexpr auto longest_answer = 2s;

script::settings settings_of(const script_options& options, const script_rights& rights) {
  return {.most_memory = options.lua_memory,
          .most_time = loop::from_seconds(options.lua_time),
          .is_compiled = options.lua_jit,
          .is_unsafe = rights.is_unsafe,
          .may_use_net = rights.net,
          .may_change_runtimes = rights.runtimes,
          .libraries = options::lua_folders_for(options::current_path_environment())};
}

/// An error and its traceback as one line of a log: `a.lua:2: why | a.lua:2: in function 'f' | …`.
std::string as_one_line(std::string_view text) {
  constexpr std::string_view heading = "\nstack traceback:";
  std::string line;
  while (!text.empty()) {
    if (text.starts_with(heading)) text.remove_prefix(heading.size());
    const auto part = text.substr(0, text.find('\n', 1));
    line += part.starts_with("\n\t") ? " | " + std::string(part.substr(2)) : std::string(part);
    text.remove_prefix(part.size());
  }
  return line;
}

}  // namespace

host::host(loop::loop& loop, const script_options& options, identity identity)
    : loop_(loop),
      options_(options),
      rights_(script_rights_of(options).value_or(script_rights{})),
      who_(std::move(identity)) {}

host::~host() { tasks_.cancel(); }

result<std::unique_ptr<script::machine>> host::make() {
  auto made = script::machine::make(loop_, settings_of(options_, rights_), *this);
  if (!made) return made;
  auto& machine = **made;
  machine.add({"strata", common_functions(), {}}, this);
  for (const auto* const each : outside_kinds()) machine.make_kind(*each);
  machine.extend(common_lines(), "=strata");
  machine.extend(service_lines(), "=strata");
  machine.extend(cluster_lines(), "=strata");
  machine.extend(outside_lines(), "=strata");
  machine.add({"self", own_functions(), {}}, this);
  machine.add({"self", own_, {}}, own_host_);
  machine.set("self", "name", who_.name);
  machine.set("self", "type", who_.type);
  machine.alias("self", std::string(who_.type).c_str());
  machine.extend(own_lines(), "=strata");
  if (auto loaded = machine.load(options_.lua, callback_rows()); !loaded) {
    return std::unexpected(loaded.error());
  }
  for (std::size_t row = 0; row < callback_rows().size(); ++row) {
    if (!machine.has(row) || is_called_by(row, who_.type)) continue;
    who_.log->write(level::warning, fmt::format("the script has '{}', which a {} never calls",
                                                callback_rows()[row].name, who_.type));
  }
  return made;
}

result<void> host::open() {
  auto made = make();
  if (!made) return std::unexpected(made.error());
  machine_ = std::move(*made);
  note_size();
  return {};
}

result<void> host::begin() {
  class listener final : public script::waiter {
   public:
    bool has_failed = false;
    std::string trouble;

   private:
    void on_end(const script::finished& outcome) override {
      has_failed = outcome.has_failed();
      trouble = outcome.trouble().substr(0, outcome.trouble().find('\n'));
    }
  };
  arm_tick();
  if (options_.lua_watch) tasks_.spawn(watch());
  follow_cluster();
  if (!has(callback::start)) return {};
  listener starting;
  start(callback::start, {}, &starting);
  if (!starting.has_failed) return {};
  return failure(errc::invalid_argument, "start the script '" + options_.lua + "'",
                 "on_start has failed: " + starting.trouble, "fix the script");
}

loop::task<> host::end(loop::time_point limit) {
  disarm();
  tasks_.cancel();
  cluster_ = {};
  if (has(callback::stop)) {
    auto stopping = ask(callback::stop, {}, [](const script::finished&) { return true; });
    [[maybe_unused]] const auto ended =
        co_await loop::within(loop_, std::move(stopping), std::min(limit, loop_.now() + 5s));
  }
  retired_.clear();
  machine_.reset();
}

result<void> host::reload() {
  auto made = make();
  if (!made) return std::unexpected(made.error());
  machine_->retire();
  retired_.push_back(std::exchange(machine_, std::move(*made)));
  std::erase_if(retired_, [](const auto& each) { return each->is_idle(); });
  figures_.reloads.add();
  note_size();
  arm_tick();
  follow_cluster();
  if (has(callback::start)) start(callback::start, {});
  return {};
}

void host::arm_tick() {
  disarm();
  if (!has(callback::tick)) return;
  const auto ms = std::max(machine_->global_number("tick_ms", usual_tick_ms), shortest_tick_ms);
  tick_ = loop::from_seconds(ms / 1000);
  last_tick_ = loop_.now();
  loop_.arm_after(*this, tick_);
}

void host::on_timer() {
  const auto now = loop_.now();
  const auto elapsed = std::chrono::duration<double, std::milli>(now - last_tick_).count();
  last_tick_ = now;
  loop_.arm_after(*this, tick_);
  const script::argument with[] = {elapsed};
  start(callback::tick, with);
}

// Events are many: a script that has none of the functions does not follow them.
void host::follow_cluster() {
  cluster_ = {};
  const bool is_wanted = has(callback::cluster_join) || has(callback::cluster_leave);
  if (who_.others == nullptr || !is_wanted) return;
  cluster_ = who_.others->events().follow(loop_, [this](const journal_line& line) {
    const auto event = event_of(line);
    if (event.value("type", "") != "daemon") return;
    const auto what = event.value("event", "");
    if (what != "join" && what != "leave") return;
    const auto which = what == "join" ? callback::cluster_join : callback::cluster_leave;
    const auto daemon = event.value("runtime", "");
    const script::argument with[] = {std::string_view(daemon)};
    if (has(which)) start(which, with);
  });
}

// Also notices that the file is replaced by another of its name, as editors do.
loop::task<> host::watch() {
  std::error_code trouble;
  auto known = std::filesystem::last_write_time(options_.lua, trouble);
  for (;;) {
    co_await loop_.sleep(between_looks);
    const auto now = std::filesystem::last_write_time(options_.lua, trouble);
    if (trouble || now == known) continue;
    known = now;
    if (auto loaded = reload(); !loaded) {
      log(level::error, describe(loaded.error()) + " (the previous one stays in use)");
    } else {
      log(level::info, "the script has changed, and was loaded again");
    }
  }
}

void host::start_for(callback callback, std::uint64_t id, std::string_view message,
                     script::waiter* waiter) {
  const auto call = call_of(callback, id, message);
  start(callback, std::span(call.with).first(call.count), waiter);
}

script::step host::step_of(callback callback, std::uint64_t id, std::string_view message) {
  watch_.count(static_cast<std::size_t>(callback));
  return call_of(callback, id, message);
}

loop::task<std::optional<std::string>> host::change_sent(std::string message) {
  if (!has(callback::send)) co_return message;
  const auto read = [&message](const script::finished& outcome) -> std::optional<std::string> {
    if (outcome.is_false()) return std::nullopt;
    return outcome.is_text() ? std::string(outcome.text()) : message;
  };
  std::vector<script::argument> with{std::string_view(message)};
  auto asked = ask(callback::send, std::move(with), read);
  auto given = co_await loop::within(loop_, std::move(asked), loop_.now() + longest_answer);
  if (given) co_return std::move(*given);
  log(level::error, "on_send has not answered within 2 s: the message is dropped");
  co_return std::nullopt;
}

loop::task<result<nlohmann::json>> host::evaluate(std::string text, loop::time_point limit) {
  log(level::info, "evaluates: " + text::shortened(text, 200));
  return scripting::evaluate(*machine_, std::move(text), limit);
}

void host::log(level level, const std::string& text) { who_.log->write(level, text, "lua"); }

void host::log_few(std::string_view cause, level level, const std::string& text) {
  who_.log->write_few(cause, level, text, "lua");
}

void host::on_error(const std::string& text) {
  figures_.errors.add();
  // A client can cause errors as often as it likes.
  who_.log->write_few("script", level::error, as_one_line(text), "lua");
}

void host::on_print(const std::string& line) { log(level::info, line); }

void host::on_run(const script::callback_run& ran) {
  watch_.note(ran);
  note_size();
}

void host::note_size() {
  if (machine_ == nullptr) return;
  figures_.memory.set(machine_->memory());
  figures_.waiting.set(machine_->waiting());
}

}  // namespace strata::runtime::scripting
