#include "runtime/clients.hpp"

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
      {"id", count, "unique among the runtime's clients", {}, "id"},
      {"address", text, "where it is; empty: that is not known", {}, "address"},
      {"protocol", text, "what it speaks, as a URL's scheme names it", {}, "protocol"},
      {"tls_subject",
       text,
       "of the certificate that it has shown; empty: none",
       {},
       "tls_subject",
       true},
      {"since", text, "when it came", {}, "since"},
      {"idle_s", seconds, "since it last sent something", {}, "idle"},
      {"messages_in", count, "messages that it has sent", {}, "in"},
      {"messages_out", count, "messages that were sent to it", {}, "out"},
      {"bytes_in", bytes, "received from it", {}, "bytes_in"},
      {"bytes_out", bytes, "sent to it", {}, "bytes_out"},
      {"waiting", bytes, "held for it, or of a message that is not whole", {}, "waiting"},
      {"groups", texts, "those that a script has put it into", {}, "groups"},
  };
  return rows;
}

nlohmann::json json_of(const client_report& client, loop::time_point now) {
  const auto came =
      std::chrono::system_clock::now() -
      std::chrono::duration_cast<std::chrono::system_clock::duration>(now - client.since);
  const auto idle = std::chrono::duration<double>(now - client.last_active).count();
  return {{"id", client.id},
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
          {"groups", client.groups}};
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

}  // namespace strata::runtime
