#include "runtime/clients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runtime/journal.hpp"

namespace strata::runtime {

namespace {

// This many take less than a millisecond.
constexpr std::size_t clients_a_turn = 256;

std::span<const answer_row> client_rows() {
  using enum answer_kind;
  static constexpr answer_row rows[] = {
      {.key = "id", .help = "unique among the runtime's clients", .column = "id", .kind = count},
      {.key = "address", .help = "address of the client; empty: unknown", .column = "address"},
      {.key = "protocol",
       .help = "protocol of the client, as the scheme of a URL",
       .column = "protocol"},
      {.key = "tls_subject",
       .help = "subject of the client's certificate; empty: none",
       .column = "tls_subject",
       .is_hidden = true},
      {.key = "since", .help = "time when the client connected", .column = "since"},
      {.key = "idle_s",
       .help = "time since the client last sent something",
       .column = "idle",
       .kind = seconds},
      {.key = "messages_in",
       .help = "messages or commands received from the client",
       .column = "in",
       .kind = count},
      {.key = "messages_out",
       .help = "messages or replies sent to the client",
       .column = "out",
       .kind = count},
      {.key = "bytes_in",
       .help = "bytes received from the client",
       .column = "bytes_in",
       .kind = bytes},
      {.key = "bytes_out",
       .help = "bytes sent to the client",
       .column = "bytes_out",
       .kind = bytes},
      {.key = "waiting",
       .help = "bytes that wait to be sent to the client, or belong to an unfinished message",
       .column = "waiting",
       .kind = bytes},
      {.key = "groups",
       .help = "groups into which a script has put the client",
       .column = "groups",
       .kind = texts},
      {.key = "name",
       .help = "name that the client has set; empty: none",
       .column = "name",
       .is_hidden = true},
      {.key = "database",
       .help = "for a cache: database that the client has selected",
       .column = "database",
       .kind = count,
       .is_hidden = true},
      {.key = "user",
       .help = "for a cache: user as which the client acts",
       .column = "user",
       .is_hidden = true},
  };
  return rows;
}

nlohmann::json json_of(const client_report& client, loop::time_point now) {
  const auto came =
      std::chrono::system_clock::now() -
      std::chrono::duration_cast<std::chrono::system_clock::duration>(now - client.since);
  const auto idle = std::chrono::duration<double>(now - client.last_active).count();
  nlohmann::json shown = {{"id", client.id},
                          {"address", client.address},
                          {"protocol", client.protocol},
                          {"tls_subject", client.tls_subject},
                          {"since", format_time(came)},
                          {"idle_s", std::max(idle, 0.0)},
                          {"messages_in", client.passed.messages_in},
                          {"messages_out", client.passed.messages_out},
                          {"bytes_in", client.passed.bytes_in},
                          {"bytes_out", client.passed.bytes_out},
                          {"waiting", client.waiting},
                          {"groups", client.groups},
                          {"name", client.name}};
  if (client.database) shown["database"] = *client.database;
  if (!client.user.empty()) shown["user"] = client.user;
  return shown;
}

}  // namespace

loop::task<nlohmann::json> json_of(loop::loop& loop, std::vector<client_report> clients) {
  std::ranges::sort(clients, {}, &client_report::id);
  auto all = nlohmann::json::array();
  for (const auto& each : clients) {
    if (all.size() % clients_a_turn == clients_a_turn - 1) {
      co_await loop.sleep(loop::duration::zero());
    }
    all.push_back(json_of(each, loop.now()));
  }
  co_return all;
}

operation_row clients_operation(decltype(operation_row::run) run) {
  return {.name = "clients",
          .summary = "show the clients of a runtime, with their traffic",
          .schema = "Client",
          .answer = client_rows(),
          .is_list = true,
          .run = run};
}

operation_row disconnect_operation(decltype(operation_row::run) run) {
  return {.name = "disconnect",
          .method = "POST",
          .summary = "end the connection of one client",
          .parameters = {{.key = "client",
                          .kind = options::option_kind::count,
                          .value_name = "ID",
                          .help = "as 'clients' shows it"}},
          .required = 1,
          .needed = role::operate,
          .is_change = true,
          .run = run};
}

error no_such_client(std::uint64_t id, const std::string& name) {
  return failure(errc::not_found, fmt::format("disconnect client {} of '{}'", id, name),
                 "no such client is connected", "see: strata clients " + name)
      .error();
}

}  // namespace strata::runtime
