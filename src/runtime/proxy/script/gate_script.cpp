#include "runtime/proxy/script/gate_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/proxy/script/known_client.hpp"
#include "script/call.hpp"
#include "text/json_text.hpp"
#include "text/word.hpp"

namespace strata::runtime::proxy {

using nlohmann::json;
using scripting::callback;
using scripting::http_answer;

namespace {

bool is_answer(const json& value) { return value.is_object() && value.contains("status"); }

bool is_target(const std::string& text) {
  return text.starts_with('/') &&
         std::ranges::all_of(text, [](char each) { return each > ' ' && each < 0x7f; });
}

std::unexpected<error> not_taken(std::string why, std::string remedy) {
  return failure(errc::invalid_argument, "take it", std::move(why), std::move(remedy));
}

}  // namespace

result<void> apply_fields(const json& table, scripting::http_side side,
                          proto::http_fields& destination) {
  auto set = json::object();
  if (table.is_object()) {
    for (const auto& [name, value] : table.items()) {
      std::erase_if(destination,
                    [&](const auto& field) { return text::same_text(field.first, name); });
      if (value.is_boolean() && !value.get<bool>()) continue;
      set[name] = value;
    }
  } else {
    set = table;
  }
  auto fields = scripting::fields_of(set, side);
  if (!fields) return std::unexpected(fields.error());
  for (auto& [name, value] : *fields) {
    destination.emplace_back(text::in_small_letters(name), std::move(value));
  }
  return {};
}

gate_script::gate_script(loop::loop& loop, const proxy_options& options,
                         scripting::identity identity, means means)
    : options_(options), host_(loop, options, std::move(identity)), means_(std::move(means)) {
  host_.offer(script_functions(), this);
}

result<void> gate_script::open() {
  if (auto opened = host_.open(); !opened) return opened;
  return host_.begin();
}

bool gate_script::receives_requests() const {
  return has(callback::route) || has(callback::proxy_request) || has(callback::proxy_response) ||
         has(callback::proxy_request_body) || has(callback::proxy_response_body);
}

loop::task<result<json>> gate_script::ask(callback callback,
                                          std::vector<script::argument> arguments) {
  const auto take = [](const script::finished& outcome) -> result<json> {
    if (outcome.has_failed()) return failure(errc::canceled, "run the script", "it has failed");
    return outcome.structure();
  };
  auto given = co_await host_.ask(callback, std::move(arguments), take);
  if (!given && given.error().code != errc::canceled) co_return wrong(callback, given.error());
  co_return given;
}

std::unexpected<error> gate_script::wrong(callback callback, const error& why) {
  const auto name = scripting::callback_rows()[static_cast<std::size_t>(callback)].name;
  host_.log_few(name, level::error, fmt::format("{}: {}", name, describe(why)));
  return std::unexpected(why);
}

// A number selects one of --backend, from 1.
backend_ref gate_script::backend_of(const json& named) const {
  const auto all = means_.backends();
  std::string text;
  if (named.is_string()) {
    text = named.get<std::string>();
  } else if (named.is_number_integer() && named >= 1 && named <= options_.backend.size()) {
    text = place_of(options_.backend[named.get<std::size_t>() - 1]);
  }
  const auto found = std::ranges::find_if(all, [&text](const backend_ref& each) {
    return place_of(each->is.text) == text || each->is.where() == text;
  });
  return found == all.end() ? nullptr : *found;
}

void gate_script::route(script::argument argument, routing& routing) {
  const script::argument with[] = {argument};
  host_.start(callback::route, with, &routing);
}

loop::task<result<gate_script::direction>> gate_script::route(script::argument argument) {
  auto asked = routing_for_one();
  route(argument, asked);
  if (!asked.has_ended()) {
    [[maybe_unused]] const bool has_come = co_await asked.ended();
  }
  co_return asked.take();
}

result<gate_script::direction> gate_script::read_direction(const script::finished& outcome) {
  if (outcome.has_failed()) return failure(errc::canceled, "run the script", "it has failed");
  direction made;
  if (outcome.is_nothing()) return made;
  const auto given = outcome.structure();
  if (!given) return wrong(callback::route, given.error());
  if (is_answer(*given)) {
    auto answer = http_answer::read(*given, "on_route");
    if (!answer) return wrong(callback::route, answer.error());
    made.answer = std::move(*answer);
    return made;
  }
  made.to = backend_of(*given);
  if (made.to) return made;
  const auto why = not_taken(
      fmt::format("there is no backend '{}'",
                  given->is_string() ? given->get<std::string>() : text::write_json(*given)),
      "give one of --backend or of a route, or its number from 1");
  return wrong(callback::route, why.error());
}

loop::task<result<std::optional<http_answer>>> gate_script::change(script::lazy_table& request,
                                                                   forwarded_request& asked) {
  std::vector<script::argument> with{&request};
  const auto given = co_await ask(callback::proxy_request, std::move(with));
  if (!given) co_return std::unexpected(given.error());
  if (given->is_null()) co_return std::nullopt;
  if (is_answer(*given)) {
    auto answer = http_answer::read(*given, "on_proxy_request");
    if (!answer) co_return wrong(callback::proxy_request, answer.error());
    co_return std::move(*answer);
  }
  if (!given->is_object()) {
    co_return wrong(callback::proxy_request,
                    not_taken("it does not return a table", "return {headers=, target=}").error());
  }
  if (const auto target = given->find("target"); target != given->end()) {
    if (!target->is_string() || !is_target(target->get<std::string>())) {
      co_return wrong(callback::proxy_request,
                      not_taken("its target is not a path", "begin it with '/'").error());
    }
    asked.target = target->get<std::string>();
  }
  if (const auto table = given->find("headers"); table != given->end()) {
    auto done = apply_fields(*table, scripting::http_side::request, asked.fields);
    if (!done) co_return wrong(callback::proxy_request, done.error());
  }
  co_return std::nullopt;
}

loop::task<result<void>> gate_script::change(script::lazy_table& request, answered& answered) {
  const json head{{"status", answered.status}, {"headers", scripting::table_of(answered.fields)}};
  std::vector<script::argument> with{&head, &request};
  const auto given = co_await ask(callback::proxy_response, std::move(with));
  if (!given) co_return std::unexpected(given.error());
  if (given->is_null()) co_return result<void>{};
  if (!given->is_object()) {
    co_return wrong(
        callback::proxy_response,
        not_taken("it does not return a table", "return {status=, headers=, body=}").error());
  }
  if (const auto status = given->find("status"); status != given->end()) {
    if (!status->is_number_integer() || *status < 200 || *status > 599) {
      co_return wrong(callback::proxy_response,
                      not_taken("its status is not a whole number from 200 to 599", "").error());
    }
    answered.status = status->get<int>();
  }
  if (const auto table = given->find("headers"); table != given->end()) {
    auto done = apply_fields(*table, scripting::http_side::answer, answered.fields);
    if (!done) co_return wrong(callback::proxy_response, done.error());
  }
  if (const auto body = given->find("body"); body != given->end() && body->is_string()) {
    answered.body = body->get<std::string>();
  }
  co_return result<void>{};
}

loop::task<result<std::string>> gate_script::change_piece(callback callback,
                                                          const std::string* piece,
                                                          script::lazy_table& request) {
  std::vector<script::argument> with(2);
  if (piece != nullptr) with[0] = std::string_view(*piece);
  with[1] = &request;
  using taken = result<std::optional<std::string>>;
  const auto take = [](const script::finished& outcome) -> taken {
    if (outcome.has_failed()) return failure(errc::canceled, "run the script", "it has failed");
    if (outcome.is_false()) return std::string();
    if (outcome.is_text()) return std::string(outcome.text());
    return std::nullopt;
  };
  auto given = co_await host_.ask(callback, std::move(with), take);
  if (!given) co_return std::unexpected(given.error());
  if (*given) co_return std::move(**given);
  co_return piece == nullptr ? std::string() : *piece;
}

// --- single connections

void gate_script::enter(known_client& arrived) { clients_.emplace(arrived.id(), &arrived); }

void gate_script::leave(const known_client& gone) {
  clients_.erase(gone.id());
  if (has(callback::disconnect)) host_.start_for(callback::disconnect, gone.id(), {});
}

loop::task<> gate_script::announce(std::uint64_t id) {
  if (!has(callback::connect)) co_return;
  std::vector<script::argument> with{static_cast<double>(id)};
  co_await host_.ask(callback::connect, std::move(with),
                     [](const script::finished&) { return true; });
}

loop::task<result<std::string>> gate_script::change_said(callback callback, std::uint64_t id,
                                                         std::string piece) {
  if (!has(callback)) co_return piece;  // the script has been loaded again
  const auto take = [](const script::finished& outcome) -> result<std::string> {
    if (outcome.has_failed()) return failure(errc::canceled, "run the script", "it has failed");
    if (outcome.is_nothing() || outcome.is_false()) return std::string();
    if (outcome.is_text()) return std::string(outcome.text());
    return not_taken("it returns neither a text nor nil", "return the text to forward, or nil");
  };
  std::vector<script::argument> with{static_cast<double>(id), std::string_view(piece)};
  auto given = co_await host_.ask(callback, std::move(with), take);
  if (given || given.error().code == errc::canceled) co_return given;
  auto why = wrong(callback, given.error()).error();
  why.code = errc::canceled;
  co_return std::unexpected(std::move(why));
}

// --- functions of the script

void gate_script::call_backs(script::call& call) const { call.give(means_.report()); }

void gate_script::call_connections(script::call& call) {
  call.give(static_cast<double>(means_.connections.now()));
}

void gate_script::call_clients(script::call& call) const {
  auto ids = json::array();
  for (const auto& [id, one] : clients_) ids.push_back(id);
  call.give(ids);
}

void gate_script::call_peer(script::call& call) const {
  const auto found = clients_.find(call.integer(0));
  if (found == clients_.end()) return call.give_nothing();
  const auto& one = *found->second;
  json about{{"address", one.peer().address.text()}};
  if (!one.peer().tls_subject.empty()) about["tls_subject"] = one.peer().tls_subject;
  if (!one.backend().empty()) about["backend"] = one.backend();
  call.give(about);
}

void gate_script::call_close_client(script::call& call) const {
  const auto found = clients_.find(call.integer(0));
  if (found != clients_.end()) found->second->close();
  call.give(found != clients_.end());
}

// One entry per row.
// clang-format off
constexpr script::function_row gate_script::functions[] = {
    {"backends", "", "table[]",
     "the backends and their state, as `strata backends --format json` shows them",
     script::method<&gate_script::call_backs>},
    {"connections", "", "integer", "clients that are connected now",
     script::method<&gate_script::call_connections>},
    {"clients", "", "integer[]",
     "the ids of the clients of this loop whose connections pass as they are",
     script::method<&gate_script::call_clients>},
    {"peer", "id: integer", "table?",
     "address of such a client and its backend ({address=, tls_subject=, backend=}), or nil if it "
     "has disconnected",
     script::method<&gate_script::call_peer>},
    {"close_client", "id: integer", "boolean",
     "closes such a client's connection at once; false if it has disconnected",
     script::method<&gate_script::call_close_client>},
};
// clang-format on

std::span<const script::function_row> script_functions() { return gate_script::functions; }

}  // namespace strata::runtime::proxy
