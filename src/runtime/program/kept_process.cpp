#include "runtime/program/kept_process.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "loop/within.hpp"

namespace strata::runtime::program {

using namespace std::chrono_literals;

namespace {

// Of a keeper that does nothing but answer, on a machine that has much to do.
constexpr auto answer_limit = 20s;

loop::task<result<process::packet>> next_packet(loop::loop& loop,
                                                const loop::descriptor& connection) {
  for (;;) {
    auto received = process::receive_packet(connection.fd());
    if (!received) co_return std::unexpected(received.error());
    if (*received) co_return std::move(**received);
    loop::awaited_request readable;
    loop.poll(connection, POLLIN, readable);
    (void)co_await readable;
  }
}

result<kept_process> read_greeting(loop::loop& loop, process::packet received,
                                   const std::string& operation) {
  const auto json = nlohmann::json::parse(received.text, nullptr, false);
  const auto malformed = [&] {
    return failure(errc::malformed, operation,
                   "the message of its keeper is of another version of strata");
  };
  if (!json.is_object()) return malformed();
  if (const auto code = json.find("error"); code != json.end() && code->is_number_integer()) {
    return system_failure(code->get<int>(), operation);
  }
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  };
  const auto flag = [&](const char* key) { return json.value(key, nlohmann::json()) == true; };
  auto& descriptors = received.descriptors;
  const std::size_t count =
      2U + (flag("has_notifications") ? 1U : 0U) + (flag("has_socket") ? 1U : 0U);
  if (number("protocol") != process::keeper_protocol || number("process") == 0 ||
      number("keeper") == 0 || descriptors.size() != count) {
    return malformed();
  }
  kept_process kept;
  kept.keeper_id = static_cast<pid_t>(number("keeper"));
  kept.id = static_cast<pid_t>(number("process"));
  kept.start_ticks = number("start_ticks");
  kept.was_ready = flag("is_ready");
  kept.output = loop.adopt(descriptors[0].release());
  kept.handle = std::move(descriptors[1]);
  if (flag("has_notifications")) kept.notifications = std::move(descriptors[2]);
  if (flag("has_socket")) kept.socket = loop.adopt(descriptors.back().release());
  const auto note = json.value("note", nlohmann::json());
  const auto text = [&](const char* key) {
    const auto found = note.is_object() ? note.find(key) : note.end();
    return found != note.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  kept.note = {.port = text("port"), .fingerprint = text("fingerprint")};
  return kept;
}

// The loop's time is that of its turn.
loop::task<> start_turn(loop::loop& loop) {
  thread_local loop::time_point last;
  while (last == loop.now()) co_await loop.sleep(1ms);
  last = loop.now();
}

// FNV-1a: the same in every version of strata.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

void kept_process::release() {
  keeper.release();
  id = 0;
}

std::string fingerprint_of(const program_options& options) {
  nlohmann::json all = {options.command,
                        options.shell,
                        options.env,
                        options.folder,
                        options.user,
                        options.limit,
                        options.port ? nlohmann::json(*options.port) : nlohmann::json(),
                        options.keep_socket,
                        options.takes_notifications()};
  if (options.alive == "notify") {
    all.push_back(options.alive_interval);
    all.push_back(options.alive_limit);
  }
  // Those of earlier versions have no such limits.
  if (options.memory != 0 || !options.cpus.empty() || options.tasks != 0) {
    all.push_back({options.memory, options.cpus, options.tasks});
  }
  const auto text = all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fmt::format("{:016x}", hash_of(text));
}

loop::task<result<kept_process>> start_kept(loop::loop& loop, process::kept_program program,
                                            pid_t& keeper_id, std::function<bool()> is_wanted) {
  const auto operation = fmt::format("run '{}'", program.program.words[0]);
  co_await start_turn(loop);
  if (!is_wanted()) co_return failure(errc::canceled, operation, "it is no longer wanted");
  auto started = process::start_keeper(std::move(program));
  if (!started) co_return std::unexpected(started.error());
  keeper_id = started->process.id();
  auto connection = loop.adopt(started->connection.release());
  auto awaited = next_packet(loop, connection);
  auto received = co_await loop::within(loop, std::move(awaited), loop.now() + answer_limit);
  if (!received) {
    co_return failure(errc::timed_out, operation, "its keeper has not started it in time",
                      "the machine may be short of memory or processors");
  }
  if (!*received) {
    co_return failure(errc::connection_closed, operation,
                      "its keeper has ended, with " + started->process.wait().text());
  }
  auto kept = read_greeting(loop, std::move(**received), operation);
  if (!kept) co_return std::unexpected(kept.error());
  kept->connection = std::move(connection);
  kept->keeper = std::move(started->process);
  co_return kept;
}

loop::task<result<std::optional<kept_process>>> find_kept(loop::loop& loop, int folder,
                                                          std::string name,
                                                          const std::atomic<bool>& hurried) {
  const auto operation = fmt::format("adopt the process of the keeper '{}'", name);
  auto connected = process::connect_to_keeper(folder, name);
  if (!connected && connected.error().code == errc::not_found) co_return std::nullopt;
  if (!connected) co_return std::unexpected(connected.error());
  const auto peer = process::peer_of(connected->get());
  auto connection = loop.adopt(connected->release());
  auto awaited = next_packet(loop, connection);
  auto received =
      co_await loop::within(loop, std::move(awaited), loop.now() + answer_limit, &hurried);
  if (!received) {
    co_return failure(errc::timed_out, operation,
                      fmt::format("the keeper, process {}, does not answer within {} s",
                                  peer ? peer->process : 0, answer_limit.count()),
                      "end that process, and the program that it keeps");
  }
  // It ended in this moment.
  if (!*received) co_return std::nullopt;
  auto kept = read_greeting(loop, std::move(**received), operation);
  if (!kept) {
    process::send_order(connection.fd(), process::keeper_order::end);
    co_return std::unexpected(kept.error());
  }
  kept->connection = std::move(connection);
  co_return std::optional(std::move(*kept));
}

loop::task<std::optional<process::ending>> await_ending(loop::loop& loop,
                                                        const loop::descriptor& connection) {
  for (;;) {
    const auto received = co_await next_packet(loop, connection);
    if (!received) co_return std::nullopt;
    const auto json = nlohmann::json::parse(received->text, nullptr, false);
    const auto number = [&](const char* key) {
      const auto found = json.is_object() ? json.find(key) : json.end();
      return found != json.end() && found->is_number_integer() ? found->get<int>() : 0;
    };
    if (!json.is_object() || !json.contains("exit_code")) continue;
    co_return process::ending{.exit_code = number("exit_code"), .signal = number("signal")};
  }
}

loop::task<bool> end_kept(loop::loop& loop, const loop::descriptor& connection,
                          loop::time_point limit) {
  process::send_order(connection.fd(), process::keeper_order::end);
  auto ending = await_ending(loop, connection);
  const auto ended = co_await loop::within(loop, std::move(ending), limit);
  if (!ended) co_return false;
  co_await let_go(loop, connection, limit + 1s);
  co_return true;
}

loop::task<> let_go(loop::loop& loop, const loop::descriptor& connection, loop::time_point limit) {
  process::send_order(connection.fd(), process::keeper_order::acknowledge);
  auto closing = next_packet(loop, connection);
  (void)co_await loop::within(loop, std::move(closing), limit);
}

}  // namespace strata::runtime::program
