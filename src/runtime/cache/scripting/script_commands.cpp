#include "runtime/cache/scripting/script_commands.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "net/tls/digest.hpp"
#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/scripts/script_head.hpp"
#include "runtime/cache/scripting/redis_forms.hpp"
#include "script/call.hpp"

namespace strata::runtime::cache {

namespace {

using script::value_view;
using script::value_writer;

// The generator of drand48(3).
constexpr std::uint64_t chance_factor = 0x5DEECE66D;
constexpr std::uint64_t chance_addend = 0xB;
constexpr std::uint64_t chance_mask = (std::uint64_t{1} << 48U) - 1;
constexpr std::uint64_t chance_beginning = 0x330E;

std::uint64_t seeded(std::uint64_t seed) { return ((seed & 0xFFFFFFFF) << 16U) | chance_beginning; }

void raise_error(script::call& call, std::string_view text) {
  call.give_written([&text](value_writer& writer) { write_script_error(writer, text); });
  call.raise_given();
}

// The words of a command; nullopt if they are not all texts and numbers.
class script_words {
 public:
  explicit script_words(const script::call& call) {
    const auto count = static_cast<std::size_t>(call.count());
    texts_.reserve(count);
    numbers_.reserve(count);
    for (int at = 0; at < call.count(); ++at) is_whole_ = is_whole_ && add(call.view(at));
  }
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] std::span<const std::string_view> texts() const { return texts_; }

 private:
  bool add(value_view value) {
    switch (value.what()) {
      case value_view::kind::number:
        texts_.emplace_back(numbers_.emplace_back(fmt::format("{:.17g}", value.number())));
        return true;
      case value_view::kind::text: texts_.push_back(value.text()); return true;
      default: return false;
    }
  }

  std::vector<std::string> numbers_;
  std::vector<std::string_view> texts_;
  bool is_whole_ = true;
};

}  // namespace

std::string script_digest(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const auto byte : net::sha1(as_bytes(text))) {
    hex += digits[std::to_integer<unsigned>(byte) >> 4U];
    hex += digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return hex;
}

std::span<const script::function_row> script_commands::rows() {
  static constexpr std::array<script::function_row, 9> rows = {{
      {"call", "...: any", "any", "executes a command; its error ends the script",
       script::method<&script_commands::call_command>},
      {"pcall", "...: any", "any", "executes a command; its error is returned",
       script::method<&script_commands::try_command>},
      {"acl_check_cmd", "...: any", "boolean", "reports whether the command is permitted",
       script::method<&script_commands::check_permission>},
      {"sha1hex", "...: any", "string", "returns the SHA-1 of a text in hexadecimal digits",
       script::method<&script_commands::hash>},
      {"log", "...: any", "", "writes a line of the log", script::method<&script_commands::log>},
      {"setresp", "...: any", "", "chooses RESP 2 or 3 for the replies of commands",
       script::method<&script_commands::choose_protocol>},
      {"set_repl", "...: any", "", "chooses whether commands are propagated",
       script::method<&script_commands::choose_propagation>},
      {"draw", "", "number", "returns a random number below 2^31",
       script::method<&script_commands::draw>},
      {"seed", "seed: number", "", "begins the random numbers again",
       script::method<&script_commands::seed>},
  }};
  return rows;
}

script_rules rules_of(std::uint8_t flags, bool is_read_only) {
  return {.is_read_only = is_read_only || (flags & script_no_writes) != 0,
          .may_exceed_memory = (flags & script_allow_oom) != 0};
}

std::optional<script_arguments> script_arguments::read(call& outer, std::size_t first,
                                                       std::string_view error) {
  const auto keys = outer.integer(first, error);
  if (!keys) return std::nullopt;
  const auto words = outer.words.subspan(first + 1);
  if (*keys > static_cast<std::int64_t>(words.size())) {
    outer.fail("ERR Number of keys can't be greater than number of args");
    return std::nullopt;
  }
  if (*keys < 0) {
    outer.fail("ERR Number of keys can't be negative");
    return std::nullopt;
  }
  const auto count = static_cast<std::size_t>(*keys);
  return script_arguments{words.first(count), words.subspan(count)};
}

std::string script_commands::refusal(const call& outer, std::uint8_t flags, bool is_read_only) {
  if (outer.who.is_replay) return {};
  const bool writes = (flags & script_no_writes) == 0;
  auto& home = outer.home();
  const bool is_full = home.settings().maxmemory > 0 && !outer.keys().has_room();
  if (writes && is_full && (flags & script_allow_oom) == 0) return std::string(out_of_memory_error);
  const auto unavailable = home.availability().refusal();
  if (writes && !unavailable.empty()) return std::string(unavailable);
  if ((flags & script_allow_stale) == 0) {
    if (auto why = staleness(outer); !why.empty()) return why;
  }
  if (writes && is_read_only) {
    return "ERR Can not execute a script with write flag using *_ro command.";
  }
  return {};
}

std::string script_commands::staleness(const call& outer) {
  return outer.home().has_stale_data() && !outer.who.is_replay ? std::string(stale_data_error) : "";
}

script_commands::turn::turn(script_commands& commands, call& outer, const script_rules& rules)
    : commands_(commands), outer_(outer), rules_(rules) {
  outer.propagate_nothing();
  outer.propagate_together();
  auto& hand = commands.hand_;
  hand.database = outer.who.database;
  hand.id = outer.who.id;
  hand.user = outer.who.user;
  hand.is_replay = outer.who.is_replay;
  hand.may_block = false;
  hand.kept.speak(2);
  commands.present_ = this;
}

script_commands::turn::~turn() {
  commands_.hand_.user = nullptr;
  commands_.present_ = nullptr;
}

void script_commands::turn::reply(std::string_view name, value_view value,
                                  const script::failure_place* failed) {
  if (failed == nullptr) {
    count_error(value);
    reply_script_value(outer_.reply, value, commands_.hand_.kept.is_resp3());
    return;
  }
  auto text = error_text(value);
  const bool is_counted = text == counted_error_;
  if (!failed->source.empty()) {
    text += fmt::format(" script: {}, on {}:{}.", name, failed->source, failed->line);
  }
  if (is_counted) {
    outer_.fail_again(text);
  } else {
    outer_.fail(text);
  }
}

// A script may return an error, one of its commands or of its own.
void script_commands::turn::count_error(value_view value) {
  if (value.what() != value_view::kind::table) return;
  const bool is_error = value.with_field(
      "err", [](value_view field) { return field.what() == value_view::kind::text; });
  if (!is_error) return;
  const auto text = error_text(value);
  if (text != counted_error_) outer_.home().statistics().count_error(text);
}

// Reports whether the user of the script may execute the command.
bool script_commands::may_execute(const command& command,
                                  std::span<const std::string_view> words) const {
  const auto* called = &command;
  if (!command.row->subcommands.empty() && words.size() > 1) {
    called = find_subcommand(command, words[1]);
  }
  if (called == nullptr || denial(data_.home().settings().access, *called)) return false;
  const auto* const user = present_ == nullptr ? nullptr : present_->outer_.who.user;
  return user == nullptr || !user->check(*called, words);
}

void script_commands::check_permission(script::call& call) {
  const script_words words(call);
  if (words.texts().empty() || !words.is_whole()) {
    raise_error(call, words.is_whole()
                          ? "ERR Please specify at least one argument for this "
                            "redis.acl_check_cmd() call"
                          : "ERR redis.acl_check_cmd() require to specify the command as strings");
    return;
  }
  const auto* command = find_command(words.texts()[0]);
  if (command == nullptr || !data_.home().settings().knows(command->since)) {
    raise_error(call, "ERR Invalid command passed to redis.acl_check_cmd()");
    return;
  }
  call.give(may_execute(*command, words.texts()));
}

void script_commands::hash(script::call& call) {
  if (call.count() != 1) {
    raise_error(call, "ERR wrong number of arguments");
    return;
  }
  call.give(std::string_view(script_digest(call.text(0))));
}

void script_commands::log(script::call& call) {
  static constexpr std::array levels = {level::debug, level::debug, level::info, level::warning};
  if (call.count() < 2) {
    raise_error(call, "ERR redis.log() requires two arguments or more.");
    return;
  }
  const auto first = call.view(0);
  if (!first.is_numeric()) {
    raise_error(call, "ERR First argument must be a number (log level).");
    return;
  }
  const auto number = first.number();
  if (number < 0 || number >= static_cast<double>(levels.size())) {
    raise_error(call, "ERR Invalid log level.");
    return;
  }
  std::string line;
  for (int at = 1; at < call.count(); ++at) {
    line += fmt::format("{}{}", at == 1 ? "" : " ", call.is_text(at) ? call.text(at) : "");
  }
  log_.write(levels[static_cast<std::size_t>(number)], line);
}

void script_commands::choose_protocol(script::call& call) {
  if (call.count() != 1) {
    raise_error(call, "ERR redis.setresp() requires one argument.");
    return;
  }
  const auto version = call.number(0);
  if (version != 2 && version != 3) {
    raise_error(call, "ERR RESP version must be 2 or 3.");
    return;
  }
  hand_.kept.speak(static_cast<int>(version));
}

// There is one stream of changes for the log and the followers: what one of them is to get gets the
// other one too.
void script_commands::choose_propagation(script::call& call) {
  if (call.count() != 1) {
    raise_error(call, "ERR redis.set_repl() requires two arguments.");
    return;
  }
  const auto what = call.number(0);
  if (what != 0 && what != 1 && what != 2 && what != 3) {
    raise_error(call,
                "ERR Invalid replication flags. Please use REPL_AOF, REPL_REPLICA, REPL_ALL "
                "or REPL_NONE.");
    return;
  }
  if (present_ != nullptr) present_->rules_.is_propagated = what != 0;
}

void script_commands::draw(script::call& call) {
  chance_ = (chance_ * chance_factor + chance_addend) & chance_mask;
  call.give(chance_ >> 17U);
}

void script_commands::seed(script::call& call) {
  chance_ = seeded(static_cast<std::uint64_t>(static_cast<std::int64_t>(call.number(0))));
}

void script_commands::execute(script::call& call, bool raises) {
  const script_words words(call);
  std::string_view wrong;
  if (call.count() == 0) {
    wrong = "ERR Please specify at least one argument for this redis lib call";
  } else if (!words.is_whole()) {
    wrong = "ERR Lua redis lib command arguments must be strings or integers";
  } else if (present_ == nullptr) {
    wrong = "ERR redis.call/pcall can only be called inside a script invocation";
  } else {
    // The users may have been replaced while the script was interrupted.
    hand_.user = present_->outer_.who.user;
    data_.execute_for_script(present_->outer_, hand_, words.texts(), present_->rules_);
    const auto reply = hand_.kept.take();
    if (reply.starts_with('-')) {
      present_->counted_error_ = reply.substr(1, reply.find('\r') - 1);
    }
    call.drop_arguments();
    call.give_written([reply](value_writer& writer) { write_script_value(writer, reply); });
    if (raises && reply.starts_with('-')) call.raise_given();
    return;
  }
  call.drop_arguments();
  call.give_written([wrong](value_writer& writer) { write_script_error(writer, wrong); });
  if (raises) call.raise_given();
}

}  // namespace strata::runtime::cache
