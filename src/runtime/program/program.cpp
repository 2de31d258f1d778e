#include "runtime/program/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "runtime/program/execution.hpp"
#include "runtime/program/instance_set.hpp"
#include "runtime/program/launch.hpp"
#include "runtime/program/outside_process.hpp"
#include "runtime/program/probe.hpp"

namespace strata::runtime::program {

namespace {

class program final : public sharded<program_options, instance_set> {
 public:
  explicit program(context&& context) : sharded(std::move(context), option_table()) {}

  loop::task<result<nlohmann::json>> instances(operation_call call);
  loop::task<result<nlohmann::json>> signal(operation_call call);
  loop::task<result<nlohmann::json>> roll(operation_call call);
  loop::task<result<std::unique_ptr<session>>> exec(operation_call call);
  [[nodiscard]] std::optional<std::vector<std::size_t>> open_instances() const override {
    return open_;
  }
  [[nodiscard]] bool serves_strangers() const override { return false; }
  void hand_over() override { keeps_processes_ = true; }

 private:
  [[nodiscard]] result<void> check(const program_options& options) const override;
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override;
  void take_over(std::vector<std::size_t> numbers);

  std::vector<std::size_t> open_;
  std::atomic<bool> keeps_processes_ = false;
};

// The condition that `flag` gives. `others`: those that it may have beside port, http: and notify.
result<void> check_condition(std::string_view flag, const std::string& condition,
                             const std::vector<std::string_view>& others,
                             const program_options& options) {
  const bool asks_for_page = condition.starts_with(http_prefix);
  const bool is_known =
      condition == "port" || condition == "notify" || asks_for_page ||
      std::ranges::any_of(others, [&](std::string_view each) {
        return each.ends_with(':') ? condition.starts_with(each) : condition == each;
      });
  if (!is_known) {
    return refuse_options(fmt::format("{} {} is not a condition", flag, condition),
                          fmt::format("give one of port, http:PATH, notify{}{}",
                                      others.empty() ? "" : ", ", fmt::join(others, ", ")));
  }
  if ((condition == "port" || asks_for_page) && !options.port) {
    return refuse_options(fmt::format("{} {} needs a port", flag, condition), "give --port");
  }
  if (condition == "port" && options.keep_socket) {
    return refuse_options(
        fmt::format("{} port says nothing with --keep-socket: the daemon itself listens there",
                    flag),
        fmt::format("give {} http:/health or {} notify", flag, flag));
  }
  if (asks_for_page && !path_of(condition).starts_with('/')) {
    return refuse_options(fmt::format("'{}' has no path", condition), "write http:/health");
  }
  if (condition == "line:") return refuse_options("'line:' has no text", "write line:listening");
  return {};
}

// Of a process that strata has not started.
result<void> check_attached(const program_options& options) {
  const bool has_port = options.port.value_or(0) != 0;
  if (!options.command.empty()) {
    return refuse_options("an attached process has no command",
                          "leave out --command, or --attached");
  }
  if (options.pid.empty() && !has_port) {
    return refuse_options("nothing says which process is attached", "give --pid or --port");
  }
  if (options.instances != 1 || options.keep_socket) {
    return refuse_options("an attached process has neither instances nor a socket of strata",
                          "leave out --instances and --keep-socket");
  }
  const bool is_started = options.ready == "started" || options.ready == "port";
  if (!is_started && path_of(options.ready).empty()) {
    return refuse_options(
        fmt::format("--ready {} cannot be known of an attached process", options.ready),
        "give --ready port or --ready http:/health");
  }
  if (options.takes_notifications()) {
    return refuse_options("an attached process sends no notifications to strata",
                          "give --alive port or --alive http:/health");
  }
  if (!options.output_file.empty()) {
    return refuse_options("strata does not get the output of an attached process",
                          "leave out --output-file");
  }
  if (options.memory != 0 || !options.cpus.empty() || options.tasks != 0) {
    return refuse_options("strata does not limit an attached process",
                          "leave out --memory, --cpus and --tasks");
  }
  if (!has_port && !options.alive.empty()) {
    return refuse_options(fmt::format("--alive {} needs a port", options.alive), "give --port");
  }
  if (options.pid.empty()) return {};
  const auto identity = read_identity(options.pid);
  if (!identity) return std::unexpected(identity.error());
  return {};
}

result<void> check_command(const program_options& options, const std::string& name) {
  if (options.command.empty()) {
    return refuse_options("it has no command", "give --command './server --port {port}'");
  }
  const place_values values{.name = name, .port = options.port ? "1" : "", .instance = 1};
  if (const auto made = launch_of(options, values, {}); !made) {
    return std::unexpected(made.error());
  }
  if (const auto limits = group_limits_of(options); !limits) return std::unexpected(limits.error());
  if (const auto path = with_places(options.output_file, values); !path) {
    return std::unexpected(path.error());
  }
  const bool is_shared = options.instances > 1 && !options.output_file.contains("{instance}");
  if (is_shared && !options.output_file.empty()) {
    return refuse_options(
        fmt::format("{} instances would write to '{}'", options.instances, options.output_file),
        "write --output-file NAME.{instance}.log");
  }
  return {};
}

result<void> program::check(const program_options& options) const {
  const auto whole =
      options.attached ? check_attached(options) : check_command(options, given().name);
  if (!whole) return whole;
  if (options.port && *options.port != 0 && *options.port + options.instances - 1 > 65535) {
    return refuse_options(fmt::format("{} instances from port {} on need a port above 65535",
                                      options.instances, *options.port),
                          "give a lower --port");
  }
  if (options.alive_interval <= 0) {
    return refuse_options("--alive-interval 0 would check without a pause",
                          "give --alive-interval 1s");
  }
  auto ready = check_condition("--ready", options.ready, {"started", "line:"}, options);
  if (!ready || options.alive.empty()) return ready;
  return check_condition("--alive", options.alive, {}, options);
}

program::part_list program::make_parts(const std::vector<loop::loop*>& loops) {
  instance_set::listeners listeners{
      .on_end = [this](const std::string& why, own_end end) { end_by_itself(why, end); },
      .on_open_instances =
          [this](std::vector<std::size_t> numbers) {
            given().home.post(
                [this, numbers = std::move(numbers)]() mutable { take_over(std::move(numbers)); });
          }};
  part_list parts;
  parts.push_back(std::make_unique<instance_set>(*loops[0], running(), given(), hurried(),
                                                 keeps_processes_, std::move(listeners)));
  return parts;
}

void program::take_over(std::vector<std::size_t> numbers) {
  open_ = std::move(numbers);
  if (on_open_instances) on_open_instances();
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
  if (running().attached && !running().managed) {
    co_return failure(errc::conflict, fmt::format("send the signal '{}'", name),
                      "the process is attached, but not managed", "attach it with --managed");
  }
  const auto reached =
      co_await run_at(0, [number](instance_set& set) { return set.signal(number); });
  co_return nlohmann::json{{"instances", reached}};
}

loop::task<result<nlohmann::json>> program::roll(operation_call /*call*/) {
  if (running().attached) {
    co_return failure(errc::conflict, fmt::format("roll '{}'", given().name),
                      "strata has not started its process", "restart that process itself");
  }
  auto work = [&set = part_at(0)] { return set.roll(); };
  auto rolled = co_await loop::call_on(given().home, loop_of(0), std::move(work));
  if (!rolled) co_return std::unexpected(rolled.error());
  co_return nlohmann::json{{"instances", *rolled}};
}

loop::task<result<std::unique_ptr<session>>> program::exec(operation_call call) {
  const auto operation = fmt::format("run a command beside '{}'", given().name);
  if (running().attached) {
    co_return failure(errc::conflict, operation, "strata has not started its process",
                      "run the command in a shell");
  }
  const auto& asked = call.parameters;
  const auto number = asked.value("instance", std::uint64_t(1));
  const auto values =
      co_await run_at(0, [number](instance_set& set) { return set.values_of(number); });
  if (!values) {
    co_return failure(errc::invalid_argument, operation,
                      fmt::format("it has no instance {}", number),
                      fmt::format("give a number from 1 to {}", running().instances));
  }
  const process::terminal_size usual;
  execution_order order{.words = asked.at("command"),
                        .takes_input = asked.value("input", false),
                        .terminal = asked.value("terminal", std::string()),
                        .size = {.rows = asked.value("rows", usual.rows),
                                 .columns = asked.value("columns", usual.columns)}};
  co_return execute(given(), running(), *values, std::move(order));
}

std::vector<options::option_row> execution_rows() {
  using enum options::option_kind;
  return {{.key = "command",
           .kind = list,
           .value_name = "WORD",
           .help = "the command and its arguments, each as it is; repeatable"},
          {.key = "instance",
           .kind = count,
           .value_name = "N",
           .default_text = "1",
           .help = "the instance whose port and number the command gets",
           .min = 1},
          {.key = "input",
           .kind = flag,
           .help = "the command reads what the caller sends; otherwise its input is empty"},
          {.key = "terminal",
           .kind = text,
           .value_name = "TERM",
           .help = "run it at a terminal of this type, such as xterm"},
          {.key = "rows",
           .kind = count,
           .value_name = "N",
           .help = "the terminal's lines",
           .max = UINT16_MAX,
           .min = 1},
          {.key = "columns",
           .kind = count,
           .value_name = "N",
           .help = "the terminal's columns",
           .max = UINT16_MAX,
           .min = 1}};
}

std::span<const answer_row> instance_rows() {
  using enum answer_kind;
  static constexpr answer_row rows[] = {
      {.key = "instance", .help = "its number, from 1 on", .column = "instance", .kind = count},
      {.key = "state",
       .help = "whether its process runs",
       .choices = "running|rolling|restarting|ended",
       .column = "state"},
      {.key = "pid", .help = "id of its process; 0: none", .column = "pid", .kind = count},
      {.key = "port", .help = "port at which it listens; 0: none", .column = "port", .kind = count},
      {.key = "uptime_s", .help = "time since it started", .column = "uptime", .kind = seconds},
      {.key = "restarts",
       .help = "times that it was started again while other instances ran",
       .column = "restarts",
       .kind = count},
      {.key = "status",
       .help = "what it reports of its state, as STATUS= of sd_notify",
       .column = "status"},
  };
  return rows;
}

std::span<const answer_row> rolled_rows() {
  static constexpr answer_row rows[] = {{.key = "instances",
                                         .help = "instances that were replaced",
                                         .column = "instances",
                                         .kind = answer_kind::count}};
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
      {.name = "exec",
       .summary = "run a command beside a program, as its user and in its folder",
       .verb = "exec",
       .parameters = execution_rows(),
       .required = 1,
       .needed = role::admin,
       .is_change = true,
       .open = operation_method<&program::exec>::open},
      {.name = "instances",
       .summary = "show the processes of a program",
       .schema = "Instance",
       .answer = instance_rows(),
       .is_list = true,
       .run = operation_method<&program::instances>::run},
      {.name = "roll",
       .method = "POST",
       .summary = "restart the instances of a program one after the other",
       .schema = "Rolled",
       .answer = rolled_rows(),
       .needed = role::operate,
       .is_change = true,
       .is_lengthy = true,
       .run = operation_method<&program::roll>::run},
      {.name = "signal",
       .method = "POST",
       .summary = "send a signal to the processes of a program",
       .parameters = {{.key = "signal",
                       .kind = options::option_kind::text,
                       .value_name = "SIGNAL",
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
