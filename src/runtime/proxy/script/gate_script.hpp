// The script of one loop's part of a proxy: it chooses backends, and changes the data passed on.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/proxy/choice/choosing.hpp"
#include "runtime/proxy/heads/forwarding.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/web/http_answer.hpp"
#include "runtime/scripting/web/http_values.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::proxy {

class known_client;

class gate_script {
 public:
  struct means {
    /// All backends, including those of routes.
    std::function<std::vector<backend_ref>()> backends;
    /// In the form of `strata backends`, as far as this loop knows.
    std::function<nlohmann::json()> report;
    const serve::connection_gauge& connections;
  };

  gate_script(loop::loop& loop, const proxy_options& options, scripting::identity identity,
              means means);

  /// Loads the script and calls on_start. Errors: those of the script.
  result<void> open();
  loop::task<> end(loop::time_point limit) { return host_.end(limit); }
  result<void> reload() { return host_.reload(); }
  loop::task<result<nlohmann::json>> evaluate(std::string text, loop::time_point limit) {
    return host_.evaluate(std::move(text), limit);
  }
  [[nodiscard]] const scripting::script_figures& counted() const { return host_.counted(); }

  [[nodiscard]] bool has(scripting::callback callback) const { return host_.has(callback); }
  /// Whether it has a function for HTTP requests.
  [[nodiscard]] bool receives_requests() const;

  /// The destination of a request or a connection. Errors: the script has failed, or names no
  /// backend; that is logged.
  struct direction {
    std::optional<scripting::http_answer> answer;  ///< set: it is not passed on
    backend_ref to;                                ///< null: as the options say
  };
  loop::task<result<direction>> route(script::argument argument);
  /// The same without a coroutine, for scripts that do not wait, as most do not, on each request.
  /// `routing` is made by `routing_for_one`.
  struct direction_reader {
    gate_script* of;
    result<direction> operator()(const script::finished& outcome) const {
      return of->read_direction(outcome);
    }
  };
  using routing = script::question<direction_reader>;
  [[nodiscard]] routing routing_for_one() { return {host_.on(), {this}}; }
  void route(script::argument argument, routing& routing);
  /// Changes a request's head, unless it returns an answer. Errors: as of `route`.
  loop::task<result<std::optional<scripting::http_answer>>> change(script::lazy_table& request,
                                                                   forwarded_request& asked);
  struct answered {
    int status = 0;
    proto::http_fields fields;
    std::optional<std::string> body;  ///< replaces the backend's
    std::string reason = {};          ///< the backend's reason phrase
  };
  /// Changes the head of a backend's answer. Errors: as of `route`.
  loop::task<result<void>> change(script::lazy_table& request, answered& answered);
  /// Changes a piece of a body; null is its end, which may still be extended. Errors: as of
  /// `route`.
  loop::task<result<std::string>> change_piece(scripting::callback callback,
                                               const std::string* piece,
                                               script::lazy_table& request);

  // --- of single connections
  /// Registers a connection, which the script knows by its id until it leaves.
  void enter(known_client& arrived);
  void leave(const known_client& gone);
  /// Waits for on_connect.
  loop::task<> announce(std::uint64_t id);
  /// Returns the replacement of data from a client or its backend. Errors: as of `route`.
  loop::task<result<std::string>> change_said(scripting::callback callback, std::uint64_t id,
                                              std::string piece);

 private:
  loop::task<result<nlohmann::json>> ask(scripting::callback callback,
                                         std::vector<script::argument> arguments);
  std::unexpected<error> wrong(scripting::callback callback, const error& why);
  [[nodiscard]] result<direction> read_direction(const script::finished& outcome);
  [[nodiscard]] backend_ref backend_of(const nlohmann::json& named) const;

  void call_backs(script::call& call) const;
  void call_connections(script::call& call);
  void call_clients(script::call& call) const;
  void call_peer(script::call& call) const;
  void call_close_client(script::call& call) const;
  static const script::function_row functions[];
  friend std::span<const script::function_row> script_functions();

  const proxy_options& options_;
  scripting::host host_;
  means means_;
  std::map<std::uint64_t, known_client*> clients_;
};

/// The functions of `self` for proxies' scripts.
[[nodiscard]] std::span<const script::function_row> script_functions();

/// Sets the fields that the table names, and removes those that are false. Errors: the table is
/// invalid, or names fields that are the proxy's.
[[nodiscard]] result<void> apply_fields(const nlohmann::json& table, scripting::http_side side,
                                        proto::http_fields& destination);

}  // namespace strata::runtime::proxy
