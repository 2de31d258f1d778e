// One loop's part of a cache without the engine: it accepts connections, reads and parses their
// requests and sends their replies; the engine's loop executes them (landing.hpp).
//
// Messages travel in lists: one list for each turn of a loop.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "loop/condition.hpp"
#include "loop/loop.hpp"
#include "net/scheme.hpp"
#include "runtime/cache/serving/admission.hpp"
#include "runtime/cache/serving/crossing.hpp"
#include "runtime/cache/serving/landing.hpp"
#include "runtime/counters.hpp"
#include "runtime/journal.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime::cache {

class outpost final : private loop::turn_end_hook {
 public:
  /// `admission` and `landing` are the engine's, and outlive it.
  outpost(loop::loop& loop, const admission& admission, serve::connection_gauge& connections,
          std::shared_ptr<journal> log, landing& landing);
  ~outpost() override;
  outpost(const outpost&) = delete;
  outpost& operator=(const outpost&) = delete;

  /// Starts to listen where the engine's loop does. Errors: that of the first target that cannot be
  /// bound.
  result<void> open(std::vector<net::bind_target>& targets,
                    const std::shared_ptr<net::tls_slot>& identity);
  [[nodiscard]] loop::task<> stop_accepting() { return acceptor_.finish_listening(); }
  /// Ends all connections, and waits until the engine's loop knows of it.
  /// They have until `limit` to get what the engine still has for them.
  [[nodiscard]] loop::task<> close(loop::time_point limit);
  /// May be read from any thread.
  [[nodiscard]] const counters& counted() const { return counters_; }

  // --- for its connections
  [[nodiscard]] loop::loop& loop() { return loop_; }
  [[nodiscard]] bool is_closing() const { return is_closing_; }
  void send(const outpost_message& message);
  [[nodiscard]] std::unique_ptr<request_load> take_load();
  void give_back(std::unique_ptr<request_load> load);
  /// Called when both ends of a connection have said goodbye.
  void forget(crossing& ended);
  /// Called by the engine's messages, on this loop.
  void receive(std::string page, const std::vector<landing_message>& messages);

 private:
  void on_turn_end() override;
  [[nodiscard]] serve::acceptor_settings acceptor_settings(const admission& admission,
                                                           serve::connection_gauge& connections);
  loop::task<> serve(std::unique_ptr<net::stream> stream, serve::connection_gauge::place place);

  loop::loop& loop_;
  std::shared_ptr<journal> log_;
  landing& landing_;
  counters counters_;
  std::vector<outpost_message> outgoing_;
  std::unordered_map<crossing*, std::shared_ptr<crossing>> crossings_;
  std::vector<std::unique_ptr<request_load>> spare_loads_;
  bool is_closing_ = false;
  loop::condition changed_;
  serve::acceptor acceptor_;
};

}  // namespace strata::runtime::cache
