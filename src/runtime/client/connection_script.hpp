// The script of a client: it handles the connection's events and messages, and sends.
#pragma once

#include <optional>
#include <string>

#include "loop/condition.hpp"
#include "runtime/client/options.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/sequence.hpp"

namespace strata::runtime::client {

class connection;

class connection_script final : private scripting::sequence::owner {
 public:
  connection_script(connection& connection, loop::loop& loop, const client_options& options,
                    scripting::identity identity);

  result<void> open() { return host_.open(); }
  result<void> begin() { return host_.begin(); }
  loop::task<> end(loop::time_point limit) { return host_.end(limit); }
  result<void> reload() { return host_.reload(); }
  loop::task<result<nlohmann::json>> evaluate(std::string text, loop::time_point limit) {
    return host_.evaluate(std::move(text), limit);
  }

  void on_connected();
  void on_disconnected();
  /// Returns false if too many are queued and this one is dropped.
  bool on_message(byte_span bytes);
  /// Waits until the script has handled the received messages.
  [[nodiscard]] loop::task<> handled();
  /// Passes a message from `strata send` through the script: nullopt if the script drops it.
  loop::task<std::optional<std::string>> on_send(std::string message);

  [[nodiscard]] const scripting::script_figures& counted() const { return host_.counted(); }

 private:
  void on_ended(scripting::callback /*which*/, const script::finished& /*with*/) override {}
  void on_settled() override { settled_.notify(); }

  void call_send(script::call& call);
  void call_is_connected(script::call& call);
  static const script::function_row functions[];
  friend std::span<const script::function_row> script_functions();

  connection& home_;
  scripting::host host_;
  scripting::sequence turns_;
  loop::condition settled_;
};

/// The functions of `self` for clients' scripts.
[[nodiscard]] std::span<const script::function_row> script_functions();

}  // namespace strata::runtime::client
