#include "runtime/program/launch.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "text/number.hpp"

namespace strata::runtime::program {

namespace {

// As prlimit(1) calls them.
constexpr std::string_view limits[] = {"as",    "core",    "cpu",      "data",       "fsize",
                                       "locks", "memlock", "msgqueue", "nice",       "nofile",
                                       "nproc", "rss",     "rtprio",   "sigpending", "stack"};
// What the daemon has of its own service manager is not meant for its programs.
constexpr std::string_view managed_variables[] = {
    "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"};

bool is_limit_value(std::string_view text) {
  return text == "unlimited" || text::number_in<std::uint64_t>(text);
}

// `nofile=1024` or `nofile=1024:4096` as an argument of prlimit(1).
result<std::string> limit_argument(std::string_view text) {
  const auto mark = text.find('=');
  const auto name = text.substr(0, mark);
  const auto value = mark == std::string_view::npos ? "" : text.substr(mark + 1);
  if (std::ranges::find(limits, name) == std::end(limits)) {
    return refuse_options(fmt::format("--limit {}: there is no limit '{}'", text, name),
                          fmt::format("give one of {}", fmt::join(limits, ", ")));
  }
  const auto colon = value.find(':');
  const auto soft = value.substr(0, colon);
  const auto hard = colon == std::string_view::npos ? soft : value.substr(colon + 1);
  if (!is_limit_value(soft) || !is_limit_value(hard)) {
    return refuse_options(fmt::format("--limit {}: '{}' is not a value of a limit", text, value),
                          fmt::format("write {0}=1000, {0}=1000:2000 or {0}=unlimited", name));
  }
  return fmt::format("--{}={}:{}", name, soft, hard);
}

struct system_user {
  uid_t uid;
  gid_t gid;
  std::string home;
};

result<system_user> find_user(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::string space(16384, '\0');
  const int code = ::getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &found);
  if (code != 0) return system_failure(code, "look up the user '" + name + "'");
  if (found == nullptr) {
    return refuse_options(fmt::format("--user {}: the system has no such user", name),
                          "'getent passwd' lists the users");
  }
  if (::geteuid() != 0 && ::geteuid() != entry.pw_uid) {
    return failure(errc::permission_denied, "run a program as the user '" + name + "'",
                   "the daemon does not run as root",
                   "leave --user out, or run the daemon as root");
  }
  return system_user{.uid = entry.pw_uid, .gid = entry.pw_gid, .home = entry.pw_dir};
}

result<std::vector<std::string>> command_words(const program_options& options,
                                               const place_values& values) {
  if (options.shell) {
    auto line = with_places(options.command, values);
    if (!line) return std::unexpected(line.error());
    return std::vector<std::string>{"/bin/sh", "-c", std::move(*line)};
  }
  auto words = split_command(options.command);
  if (!words) return words;
  for (auto& each : *words) {
    auto filled = with_places(each, values);
    if (!filled) return std::unexpected(filled.error());
    each = std::move(*filled);
  }
  return words;
}

// Puts a program in front that does its work and then becomes the command.
void put_before(std::vector<std::string>& words, std::vector<std::string> program) {
  words.insert(words.begin(), std::make_move_iterator(program.begin()),
               std::make_move_iterator(program.end()));
}

result<void> apply_user(launch& launch, const std::string& name) {
  const auto user = find_user(name);
  if (!user) return std::unexpected(user.error());
  launch.user = user->uid;
  launch.environment.insert(launch.environment.end(),
                            {"HOME=" + user->home, "USER=" + name, "LOGNAME=" + name});
  if (user->uid == ::geteuid()) return {};
  put_before(launch.words, {"setpriv", fmt::format("--reuid={}", user->uid),
                            fmt::format("--regid={}", user->gid), "--init-groups", "--"});
  return {};
}

result<void> apply_limits(launch& launch, const std::vector<std::string>& limits) {
  std::vector<std::string> program{"prlimit"};
  for (const auto& each : limits) {
    auto argument = limit_argument(each);
    if (!argument) return std::unexpected(argument.error());
    program.push_back(std::move(*argument));
  }
  program.emplace_back("--");
  if (!limits.empty()) put_before(launch.words, std::move(program));
  return {};
}

result<void> check_variables(const std::vector<std::string>& variables) {
  for (const auto& each : variables) {
    if (!each.contains('=') || each.starts_with('=')) {
      return refuse_options(fmt::format("--env {} is not NAME=VALUE", each),
                            "write --env MODE=fast");
    }
  }
  return {};
}

result<launch> launch_of_words(std::vector<std::string> words, const program_options& options,
                               const place_values& values, std::string_view notify_address) {
  if (auto good = check_variables(options.env); !good) return std::unexpected(good.error());
  launch made{.words = std::move(words), .environment = {}, .user = ::geteuid()};
  for (const auto each : managed_variables) made.environment.emplace_back(each);
  if (options.keep_socket) {
    // LISTEN_PID is the program's own process, which only that process knows.
    put_before(made.words, {"/bin/sh", "-c", "export LISTEN_PID=$$; exec \"$@\"", "sh"});
    made.environment.emplace_back("LISTEN_FDS=1");
  }
  if (!options.user.empty()) {
    if (auto good = apply_user(made, options.user); !good) return std::unexpected(good.error());
  }
  // Limits come first, while the process may still raise them.
  if (auto good = apply_limits(made, options.limit); !good) return std::unexpected(good.error());
  if (!notify_address.empty()) {
    made.environment.push_back(fmt::format("NOTIFY_SOCKET={}", notify_address));
  }
  if (options.alive == "notify") {
    const auto limit_us = options.alive_interval * static_cast<double>(options.alive_limit) * 1e6;
    made.environment.push_back(fmt::format("WATCHDOG_USEC={:.0f}", limit_us));
  }
  if (!values.port.empty()) made.environment.push_back("PORT=" + values.port);
  made.environment.push_back("STRATA_NAME=" + values.name);
  made.environment.push_back(fmt::format("STRATA_INSTANCE={}", values.instance));
  made.environment.insert(made.environment.end(), options.env.begin(), options.env.end());
  return made;
}

}  // namespace

result<process::group_limits> group_limits_of(const program_options& options) {
  process::group_limits limits{.memory = options.memory, .processors = 0, .tasks = options.tasks};
  if (options.cpus.empty()) return limits;
  double number = 0;
  const char* const end = options.cpus.data() + options.cpus.size();
  const auto [rest, code] = std::from_chars(options.cpus.data(), end, number);
  constexpr double least = 0.01;  // of the kernel, as it takes at least 1 ms of 100
  constexpr double most = 10'000;
  const bool is_number = code == std::errc{} && rest == end;
  if (!is_number || !(number >= least && number <= most)) {
    return refuse_options(
        fmt::format("--cpus {} is not a number from {} to {}", options.cpus, least, most),
        "write --cpus 0.5 or --cpus 2");
  }
  limits.processors = number;
  return limits;
}

result<launch> launch_of(const program_options& options, const place_values& values,
                         std::string_view notify_address, const std::string& group_door) {
  auto words = command_words(options, values);
  if (!words) return std::unexpected(words.error());
  auto made = launch_of_words(std::move(*words), options, values, notify_address);
  if (made && !group_door.empty()) {
    // Before it becomes another user, who may not open that file.
    put_before(made->words, {"/bin/sh", "-c", "echo $$ > \"$0\" && exec \"$@\"", group_door});
  }
  return made;
}

result<launch> launch_beside(const program_options& options, const place_values& values,
                             std::vector<std::string> words) {
  auto own = options;
  own.keep_socket = false;
  own.alive.clear();
  return launch_of_words(std::move(words), own, values, {});
}

}  // namespace strata::runtime::program
