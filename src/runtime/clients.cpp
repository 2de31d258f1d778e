#include "runtime/clients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runtime/journal.hpp"

namespace strata::runtime {

namespace {

// So many take less than a millisecond.
constexpr std::size_t clients_a_turn = 256;

std::span<const answer_row> client_rows() {
  using enum answer_kind;
  static constexpr answer_row rows[] = {
      {.key = "id", .help = "unique among the runtime's clients", .column = "id", .kind = count},
      {.key = "address", .help = "where it is; empty: that is not known", .column = "address"},
      {.key = "protocol",
       .help = "what it speaks, as a URL's scheme names it",
       .column = "protocol"},
      {.key = "tls_subject",
       .help = "of the certificate that it has shown; empty: none",
       .column = "tls_subject",
       .is_hidden = true},
      {.key = "since", .help = "when it came", .column = "since"},
      {.key = "idle_s", .help = "since it last sent something", .column = "idle", .kind = seconds},
      {.key = "messages_in",
       .help = "messages, or commands, that it has sent",
       .column = "in",
       .kind = count},
      {.key = "messages_out",
       .help = "messages, or replies, that were sent to it",
       .column = "out",
       .kind = count},
      {.key = "bytes_in", .help = "received from it", .column = "bytes_in", .kind = bytes},
      {.key = "bytes_out", .help = "sent to it", .column = "bytes_out", .kind = bytes},
      {.key = "waiting",
       .help = "held for it, or of a message that is not whole",
       .column = "waiting",
       .kind = bytes},
      {.key = "groups",
       .help = "those that a script has put it into",
       .column = "groups",
       .kind = texts},
      {.key = "name",
       .help = "that it has given itself; empty: none",
       .column = "name",
       .is_hidden = true},
      {.key = "database",
       .help = "that it works on, of a cache",
       .column = "database",
       .kind = count,
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
          .summary = "show the clients of a runtime, and what has passed between them",
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
                 "it has gone, or never came", "see: strata clients " + name)
      .error();
}

}  // namespace strata::runtime
