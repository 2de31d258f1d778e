#include "runtime/server/server.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/introducers.hpp"
#include "runtime/scripting/scripted.hpp"
#include "runtime/server/script/shard_script.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::server {

namespace {

// Also longer than the answer, so that a forged sender is not sent more than it sent.
constexpr std::size_t least_token = 8;

class server final : public scripting::scripted<server_options, shard> {
 public:
  explicit server(context&& context) : scripted(std::move(context), option_table()) {}

  loop::task<void> stop(loop::time_point limit) override;
  loop::task<result<nlohmann::json>> send(operation_call call);
  loop::task<result<nlohmann::json>> clients(operation_call call);
  loop::task<result<nlohmann::json>> disconnect(operation_call call);
  loop::task<result<nlohmann::json>> couple(operation_call call);
  loop::task<result<nlohmann::json>> uncouple(operation_call call);
  [[nodiscard]] std::vector<nlohmann::json> figures() const override;
  [[nodiscard]] std::vector<std::string> needs() const override;
  [[nodiscard]] bool may_overlap() const override { return is_shareable(carried(running())); }

 private:
  loop::task<result<nlohmann::json>> send_to(std::uint64_t client, const std::string& message);
  [[nodiscard]] result<void> check(const server_options& options) const override;
  [[nodiscard]] std::vector<std::string_view> carried(const server_options& next) const override;
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override;
  [[nodiscard]] std::size_t wanted_loops() const override { return wanted().threads; }
  [[nodiscard]] std::string written_file() const override { return wanted().write; }
  [[nodiscard]] result<void> open_identity() override {
    const auto& wanted = running();
    return identity_.open(wanted, wanted.protocol == "raw"
                                      ? std::vector<std::string>{}
                                      : std::vector<std::string>{"h2", "http/1.1"});
  }
  void close_identity() override { identity_.close(); }
  [[nodiscard]] result<void> try_certificates() const override { return try_files(wanted()); }
  [[nodiscard]] loop::task<result<bool>> read_certificates() override {
    co_return identity_.reload();
  }
  loop::task<result<bool>> open_files_again() override;
  [[nodiscard]] nlohmann::json certificates() const override {
    return has_parts() ? identity_.shown() : certificates_in(wanted().cert);
  }
  void keep_figures() override;
  /// Errors: why a message is not sent.
  [[nodiscard]] result<void> check_sent(const std::string& message) const;
  [[nodiscard]] web_figures counted_web() const;

  tls_identity identity_{given().home, given().log};
  web_figures past_web_;
};

result<void> server::check(const server_options& options) const {
  const auto urls = options.endpoints();
  if (urls.empty()) {
    return failure(errc::invalid_argument, "create a server", "no address to listen on is given",
                   "give -p PORT or --listen URL");
  }
  for (const auto& each : urls) {
    if (auto url = net::parse_listening(each); !url) return std::unexpected(url.error());
  }
  if (options.mode == "master" && options.master_pw.empty() && options.lua.empty()) {
    return failure(errc::invalid_argument, "use mode master", "no client could become master",
                   "set --master-pw, or a script with on_master_auth");
  }
  if (!options.udp_join.empty() && options.udp_join.size() < least_token) {
    return failure(errc::invalid_argument, "let UDP peers join by a token",
                   "the token is short enough to be guessed",
                   fmt::format("give --udp-join {} characters or more", least_token));
  }
  if (const auto up = options.upstreams(); !up) return std::unexpected(up.error());
  if (!options.cache.empty()) {
    const auto cache = net::parse_connecting("runtime://" + options.cache);
    if (!cache) return std::unexpected(cache.error());
  }
  if (auto checked = check_web(options); !checked) return checked;
  if (const auto read = introducers::parse(options.proxy_protocol); !read) {
    return std::unexpected(read.error());
  }
  return check_tls(options, urls);
}

std::vector<std::string_view> server::carried(const server_options& next) const {
  auto all = carried_by(next.endpoints());
  const auto has = [&](std::string_view text) { return std::ranges::find(all, text) != all.end(); };
  // Any stream may carry HTTP and its WebSockets, unless the server is configured for raw
  // connections.
  if (has("WebSockets") || (has("streams") && next.protocol != "raw")) all.emplace_back("HTTP");
  // With a certificate, a stream whose protocol is detected accepts TLS too.
  const auto detects = [](const std::string& text) {
    const auto url = net::parse_endpoint(text);
    return url && url->is_stream() && !url->is_web();
  };
  if (next.protocol == "auto" && !next.cert.empty() &&
      std::ranges::any_of(next.endpoints(), detects)) {
    all.emplace_back("TLS");
  }
  if (has("streams") && !next.proxy_protocol.empty()) all.emplace_back("PROXY headers");
  return all;
}

server::part_list server::make_parts(const std::vector<loop::loop*>& loops) {
  const auto state = std::make_shared<server_state>(
      connections(), hurried(), given().log, given().messages, given().tap, identity_.slot());
  state->shared = shared();
  state->others = given().others;
  part_list made;
  for (auto* const each : loops) {
    auto one = std::make_unique<shard>(state, *each, made.size(), running(), given().name);
    state->shards.push_back({each, one.get()});
    made.push_back(std::move(one));
  }
  return made;
}

loop::task<result<bool>> server::open_files_again() {
  if (running().http_log.empty() && running().write.empty()) co_return false;
  for (std::size_t i = 0; i < opened(); ++i) {
    auto done = co_await run_at(i, [](shard& shard) { return shard.open_files_again(); });
    if (!done) co_return std::unexpected(done.error());
  }
  co_return true;
}

loop::task<void> server::stop(loop::time_point limit) {
  return scripted::stop(
      std::min(limit, given().home.now() + loop::from_seconds(wanted().drain_timeout)));
}

result<void> server::check_sent(const std::string& message) const {
  const auto& name = given().name;
  if (!policy_of(wanted().mode).takes_sends()) {
    return failure(errc::conflict, "send through '" + name + "'",
                   "its mode is 'in': it only receives",
                   "change it: strata edit " + name + " --mode inout");
  }
  if (message.size() > wanted().max_message) {
    return failure(errc::limit_exceeded, "send through '" + name + "'",
                   "the message has " + std::to_string(message.size()) + " bytes, more than " +
                       std::to_string(wanted().max_message),
                   "raise --max-message");
  }
  return {};
}

loop::task<result<nlohmann::json>> server::send(operation_call call) {
  if (const auto may = check_sent(call.body); !may) co_return std::unexpected(may.error());
  const auto message = co_await change_sent(std::move(call.body));
  if (!message) co_return json_of(send_outcome{});
  if (const auto client = call.parameters.find("client"); client != call.parameters.end()) {
    co_return co_await send_to(client->get<std::uint64_t>(), *message);
  }
  send_outcome outcome;
  for (std::size_t i = 0; i < parts().size(); ++i) {
    outcome.delivered += co_await run_at(
        i, [&message](shard& shard) { return shard.broadcast(as_bytes(*message)); });
  }
  co_return json_of(outcome);
}

loop::task<result<nlohmann::json>> server::clients(operation_call /*call*/) {
  std::vector<client_report> all;
  for (std::size_t i = 0; i < opened(); ++i) {
    auto more = co_await run_at(i, [](shard& shard) { return shard.report(); });
    std::ranges::move(more, std::back_inserter(all));
  }
  co_return co_await json_of(given().home, std::move(all));
}

loop::task<result<nlohmann::json>> server::disconnect(operation_call call) {
  const auto client = call.parameters.at("client").get<std::uint64_t>();
  const auto where = client >> shard_bits;
  bool is_there = where < opened();
  if (is_there) {
    is_there = co_await run_at(where, [client](shard& shard) { return shard.disconnect(client); });
  }
  if (is_there) co_return nlohmann::json();
  co_return std::unexpected(no_such_client(client, given().name));
}

loop::task<result<nlohmann::json>> server::couple(operation_call call) {
  if (running().lua.empty()) {
    co_return failure(errc::conflict, fmt::format("couple a client of '{}'", given().name),
                      "it has no script", "give it one with --lua");
  }
  const auto client = call.parameters.at("client").get<std::uint64_t>();
  const far_client end{.runtime = call.parameters.at("runtime").get<std::string>(),
                       .id = call.parameters.at("other").get<std::uint64_t>()};
  const auto where = client >> shard_bits;
  const auto join = [client, end](shard& shard) {
    return shard.script()->routes().couple(client, end);
  };
  bool is_done = where < opened();
  if (is_done) is_done = co_await run_at(where, join);
  if (is_done) co_return nlohmann::json{{"coupled", true}};
  co_return std::unexpected(no_such_client(client, given().name));
}

// Whether it was coupled: the other end may have ended it at the same time.
loop::task<result<nlohmann::json>> server::uncouple(operation_call call) {
  const auto client = call.parameters.at("client").get<std::uint64_t>();
  const far_client end{.runtime = call.parameters.at("runtime").get<std::string>(),
                       .id = call.parameters.at("other").get<std::uint64_t>()};
  const auto where = client >> shard_bits;
  const auto part = [client, end](shard& shard) {
    return shard.script()->routes().uncouple(client, end);
  };
  bool is_done = where < opened() && !running().lua.empty();
  if (is_done) is_done = co_await run_at(where, part);
  co_return nlohmann::json{{"coupled", is_done}};
}

loop::task<result<nlohmann::json>> server::send_to(std::uint64_t client,
                                                   const std::string& message) {
  const auto where = client >> shard_bits;
  const auto hand_over = [&message, client](shard& shard) {
    return shard.send_to(client, as_bytes(message));
  };
  bool is_there = where < parts().size();
  if (is_there) is_there = co_await run_at(where, hand_over);
  if (is_there) co_return json_of(send_outcome{.delivered = 1});
  co_return failure(errc::not_found, fmt::format("send to client {} of '{}'", client, given().name),
                    "no such client is connected");
}

std::vector<std::string> server::needs() const {
  std::vector<std::string> names;
  if (!wanted().cache.empty()) names.push_back(wanted().cache);
  const auto urls = wanted().upstreams();
  if (!urls) return names;
  for (const auto& each : *urls) {
    if (each.scheme->form == net::url_form::name) names.push_back(each.host);
  }
  return names;
}

web_figures server::counted_web() const {
  auto sum = past_web_;
  for (std::size_t i = 0; i < opened(); ++i) {
    add_figures(sum, part_at(i).counted_web(), web_figure_table());
  }
  return sum;
}

void server::keep_figures() {
  scripted::keep_figures();
  past_web_ = past_figures(counted_web(), web_figure_table());
}

std::vector<nlohmann::json> server::figures() const {
  auto values = scripted::figures();
  std::ranges::move(values_of(counted_web(), web_figure_table()), std::back_inserter(values));
  return values;
}

constexpr answer_row coupling_answer[] = {
    {.key = "coupled", .help = "whether it was done", .kind = answer_kind::flag}};

operation_row coupling_operation(std::string_view name, std::string_view summary,
                                 decltype(operation_row::run) run) {
  using enum options::option_kind;
  return {
      .name = name,
      .method = "POST",
      .summary = summary,
      .parameters =
          {{.key = "client", .kind = count, .value_name = "ID", .help = "as 'clients' shows it"},
           {.key = "runtime",
            .kind = text,
            .value_name = "NAME",
            .help = "server of the other client"},
           {.key = "other", .kind = count, .value_name = "ID", .help = "the other client"}},
      .required = 3,
      .schema = "Coupling",
      .answer = coupling_answer,
      .needed = role::operate,
      .is_change = true,
      .run = run};
}

}  // namespace

const std::vector<options::figure_row>& figure_rows() {
  static const auto rows = [] {
    auto all = scripting::script_figure_rows();
    std::ranges::move(rows_of(web_figure_table()), std::back_inserter(all));
    return all;
  }();
  return rows;
}

const std::vector<operation_row>& operation_rows() {
  static const auto rows = [] {
    auto all = scripting::script_operations<server>();
    all.push_back(sending_operation(operation_method<&server::send>::run,
                                    {{.key = "client",
                                      .kind = options::option_kind::count,
                                      .value_name = "ID",
                                      .help = "send the message to this client only"}}));
    all.push_back(clients_operation(operation_method<&server::clients>::run));
    all.push_back(disconnect_operation(operation_method<&server::disconnect>::run));
    all.push_back(coupling_operation("couple",
                                     "pass the messages of a client to a client of another server, "
                                     "in place of the script",
                                     operation_method<&server::couple>::run));
    all.push_back(coupling_operation("uncouple", "end that, and pass them to the script again",
                                     operation_method<&server::uncouple>::run));
    return all;
  }();
  return rows;
}

result<std::unique_ptr<runtime>> make(context&& context, const nlohmann::json& options) {
  return make_from<server>(std::move(context), options);
}

}  // namespace strata::runtime::server
