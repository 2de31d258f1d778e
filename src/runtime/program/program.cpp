#include "runtime/program/program.hpp"

#include <fmt/format.h>

#include "runtime/program/instance_set.hpp"

namespace strata::runtime::program {

namespace {

class program final : public sharded<program_options, instance_set> {
 public:
  explicit program(context&& context) : sharded(std::move(context), option_table()) {}

  loop::task<result<nlohmann::json>> instances(operation_call call);
  loop::task<result<nlohmann::json>> signal(operation_call call);
  [[nodiscard]] bool has_instances() const override { return true; }
  [[nodiscard]] bool serves_strangers() const override { return false; }

 private:
  [[nodiscard]] result<void> check(const program_options& options) const override;
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override;
};

std::unexpected<error> refuse(std::string reason, std::string advice) {
  return failure(errc::invalid_argument, "make a program", std::move(reason), std::move(advice));
}

result<void> check_ready(const program_options& options) {
  const std::string_view ready = options.ready;
  const bool needs_port = ready == "port" || ready.starts_with("http:");
  if (needs_port && !options.port) {
    return refuse(fmt::format("--ready {} needs a port", ready), "give --port");
  }
  if (ready == "http:" || (ready.starts_with("http:") && !ready.starts_with("http:/"))) {
    return refuse(fmt::format("'{}' has no path", ready), "write http:/health");
  }
  if (ready == "line:") return refuse("'line:' has no text", "write line:listening");
  return {};
}

result<void> program::check(const program_options& options) const {
  if (options.command.empty()) {
    return refuse("it has no command", "give --command './server --port {port}'");
  }
  const place_values values{.name = given().name, .port = options.port ? "1" : "", .instance = 1};
  std::vector<std::string> words{options.command};
  if (!options.shell) {
    auto split = split_command(options.command);
    if (!split) return std::unexpected(split.error());
    words = std::move(*split);
  }
  for (const auto& each : words) {
    if (auto filled = with_places(each, values); !filled) return std::unexpected(filled.error());
  }
  for (const auto& each : options.env) {
    if (!each.contains('=') || each.starts_with('=')) {
      return refuse(fmt::format("--env {} is not NAME=VALUE", each), "write --env MODE=fast");
    }
  }
  if (options.port && *options.port != 0 && *options.port + options.instances - 1 > 65535) {
    return refuse(fmt::format("{} instances from port {} on need a port above 65535",
                              options.instances, *options.port),
                  "give a lower --port");
  }
  return check_ready(options);
}

program::part_list program::make_parts(const std::vector<loop::loop*>& loops) {
  part_list made;
  made.push_back(std::make_unique<instance_set>(
      *loops[0], running(), given(),
      [this](const std::string& why, bool is_done) { is_done ? finish(why) : fail(why); }));
  return made;
}

loop::task<result<nlohmann::json>> program::instances(operation_call /*call*/) {
  co_return co_await run_at(0, [](instance_set& set) { return set.report(); });
}

loop::task<result<nlohmann::json>> program::signal(operation_call call) {
  const auto name = call.parameters.value("signal", std::string());
  const auto bare = name.starts_with("SIG") ? name.substr(3) : name;
  const auto number = signal_number(bare);
  if (number == 0) {
    co_return failure(errc::invalid_argument, fmt::format("send the signal '{}'", name),
                      "there is no such signal", "write TERM, INT, QUIT, HUP, USR1, USR2 or KILL");
  }
  const auto reached =
      co_await run_at(0, [number](instance_set& set) { return set.signal(number); });
  co_return nlohmann::json{{"instances", reached}};
}

std::span<const answer_row> instance_rows() {
  using enum answer_kind;
  static constexpr answer_row rows[] = {
      {.key = "instance", .help = "its number, from 1 on", .column = "instance", .kind = count},
      {.key = "state",
       .help = "whether its process runs",
       .choices = "running|restarting|ended",
       .column = "state"},
      {.key = "pid", .help = "id of its process; 0: none", .column = "pid", .kind = count},
      {.key = "port", .help = "port at which it listens; 0: none", .column = "port", .kind = count},
      {.key = "uptime_s", .help = "time since it started", .column = "uptime", .kind = seconds},
      {.key = "restarts",
       .help = "times that it was started again while other instances ran",
       .column = "restarts",
       .kind = count},
  };
  return rows;
}

std::span<const answer_row> signal_rows() {
  static constexpr answer_row rows[] = {{.key = "instances",
                                         .help = "instances that got the signal",
                                         .column = "instances",
                                         .kind = answer_kind::count}};
  return rows;
}

}  // namespace

const std::vector<operation_row>& operation_rows() {
  static const std::vector<operation_row> rows = {
      {.name = "instances",
       .summary = "show the processes of a program",
       .schema = "Instance",
       .answer = instance_rows(),
       .is_list = true,
       .run = operation_method<&program::instances>::run},
      {.name = "signal",
       .method = "POST",
       .summary = "send a signal to the processes of a program",
       .parameters = {{.key = "signal",
                       .kind = options::option_kind::text,
                       .value_name = "NAME",
                       .help = "such as HUP or USR1"}},
       .required = 1,
       .schema = "Signalled",
       .answer = signal_rows(),
       .needed = role::operate,
       .is_change = true,
       .run = operation_method<&program::signal>::run},
  };
  return rows;
}

result<std::unique_ptr<runtime>> make(context&& context, const nlohmann::json& options) {
  return make_from<program>(std::move(context), options);
}

}  // namespace strata::runtime::program
