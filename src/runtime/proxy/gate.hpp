// One loop's part of a proxy: accepts clients, finds a backend for each, and joins the two.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/timer.hpp"
#include "net/directory.hpp"
#include "net/tls/context.hpp"
#include "net/tls/slot.hpp"
#include "runtime/proxy/admission/admission.hpp"
#include "runtime/proxy/checker.hpp"
#include "runtime/proxy/choice/backend_report.hpp"
#include "runtime/proxy/choice/backends.hpp"
#include "runtime/proxy/choice/figures.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/proxy/script/gate_script.hpp"
#include "runtime/proxy/script/known_client.hpp"
#include "runtime/proxy/streams/message_gate.hpp"
#include "runtime/proxy/streams/relay.hpp"
#include "runtime/proxy/web/web_gate.hpp"
#include "runtime/sharded.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime::proxy {

/// Shared by all gates of a proxy.
struct gate_setting {
  const context& given;
  serve::connection_gauge& connections;
  std::shared_ptr<net::tls_slot> shown;                   ///< certificates for clients
  std::shared_ptr<const net::tls_context> trusted;        ///< for backends; null: the system's
  std::shared_ptr<const net::tls_context> trusted_http2;  ///< for backends that may speak HTTP/2
  std::shared_ptr<const net::tls_context> trusted_http1;  ///< for backends by HTTP/1.1 only
  std::shared_ptr<shared_view> shared;                    ///< state of the backends
  const std::atomic<bool>& hurried;                       ///< a stop is not to wait
  std::size_t count = 1;                                  ///< number of gates
  std::shared_ptr<scripting::shared_store> values;        ///< values of scripts
};

class gate final : public part, private loop::timer {
 public:
  gate(loop::loop& loop, std::size_t number, proxy_options options, gate_setting setting);
  ~gate() override;

  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override;
  [[nodiscard]] loop::task<> stop_accepting() override;
  void stop_receiving() override;
  [[nodiscard]] loop::task<> close(loop::time_point limit) override;
  [[nodiscard]] const counters& counted() const override { return counters_; }
  void apply(const live_edit<proxy_options>& edit);
  /// The states of its backends, in the order of the options.
  [[nodiscard]] std::vector<backend_report> report() const;
  /// The clients: connections, and the sessions of datagram senders.
  [[nodiscard]] std::vector<client_report> clients() const;
  /// Ends a client. Returns false if it has gone.
  bool disconnect(std::uint64_t client);
  /// Readable from any thread once the gate is open.
  [[nodiscard]] const proxy_figures& counted_here() const { return figures_; }
  /// The figures of its backends and routes, likewise.
  [[nodiscard]] std::vector<branch> branches() const { return branches_.all(); }
  /// Null if there is none.
  [[nodiscard]] gate_script* script() const { return script_.get(); }
  /// Errors: those of the access log and of error pages; then the present ones stay in use.
  [[nodiscard]] result<void> open_files_again();

 private:
  void on_timer() override;
  [[nodiscard]] web_means means_of_web();
  /// Calls `work` for the backends of `--backend`, and for those of each route.
  void for_all_backends(const std::function<void(const std::string& route, backends&)>& work);
  [[nodiscard]] result<void> open_log();
  /// Publishes the present backends and routes to readers of their figures.
  void show_branches();
  void arm_sweep();
  /// Whether this gate checks backends and looks names up, for all gates.
  [[nodiscard]] bool is_first() const { return number_ == 0; }
  [[nodiscard]] serve::acceptor_settings acceptor_settings();
  [[nodiscard]] bool admits(const loop::descriptor& arrived, unsigned listener);
  /// `has_rate`: the client is counted, and is refused if it exceeds the rate.
  [[nodiscard]] bool admits_client(const loop::socket_address& client, bool has_rate);
  loop::task<> serve(std::unique_ptr<net::stream> client, serve::connection_gauge::place place,
                     unsigned listener);
  loop::task<> serve_raw(std::unique_ptr<net::stream> client, serve::connection_gauge::place place);
  /// Finds a backend for that client. Nullopt: there is none, and the client has been answered.
  loop::task<std::optional<opened_backend>> find_backend(net::stream& client,
                                                         const known_client* known);
  [[nodiscard]] net::peer_info peer_of(net::stream& client) const;
  [[nodiscard]] unsigned listener_of(const net::endpoint_url& front) const;
  /// Errors: those of the backend that was tried last; canceled if `client_left` came first.
  loop::task<result<opened_backend>> open_backend(backends& backends, const net::peer_info& client,
                                                  std::function<loop::task<>()> client_left,
                                                  std::uint64_t mark = 0);
  /// The script's choice for a connection: 0, or the mark of a backend. Errors: the connection is
  /// to be closed.
  loop::task<result<std::uint64_t>> mark_for(const net::peer_info& client, const std::string& name,
                                             const known_client* known);
  result<void> open_script();
  /// The TLS server name that a client asks for; empty if it has none, or is not TLS.
  loop::task<std::string> name_asked_for(net::stream& client);
  /// Waits until the connection breaks. A client that has only ended its direction may be waiting
  /// for data.
  loop::task<> client_left(net::stream& client);
  /// Connects to a backend; one that does not answer is not used for a while.
  loop::task<result<net::connection>> dial(backend_ref backend, std::string preface);
  loop::task<result<net::connection>> connect(backend_ref backend, std::string preface);
  loop::task<result<net::connection>> connect(backend_ref backend, std::string preface,
                                              std::shared_ptr<const net::tls_context> secure);
  /// The stream of such a task's connection. Errors: the task's, or it has no stream.
  static loop::task<result<std::unique_ptr<net::stream>>> stream_of(
      loop::task<result<net::connection>> connection, std::string place);
  [[nodiscard]] std::vector<backend_ref> all_backends() const;
  loop::task<> join(web_means::switched client, std::unique_ptr<net::byte_channel> backend);
  /// The same of a connection, and it keeps what that has taken.
  loop::task<> pass_on(std::unique_ptr<net::stream> client,
                       std::unique_ptr<net::byte_channel> backend, backend_use use,
                       std::shared_ptr<const backends> of, serve::connection_gauge::place place,
                       std::unique_ptr<known_client> known);
  /// Returns the id of a new client, which a script's number (a double) represents exactly.
  [[nodiscard]] std::uint64_t next_client();
  void enter(bond& begun, std::uint64_t client);
  /// Waits for connections and requests under way when it stops.
  loop::task<bool> drained(loop::time_point limit);
  loop::task<> bonds_ended(loop::time_point limit);
  /// Whether all of its streams carry HTTP, so that a client above the limit can be answered.
  [[nodiscard]] bool carries_http_alone() const;
  void report(level severity, std::string_view event, const std::string& text);

  loop::loop& loop_;
  std::size_t number_;
  proxy_options options_;
  gate_setting setting_;
  proxy_figures figures_;
  backends backends_;
  counters counters_;
  branch_list branches_;
  admission admission_;
  std::unique_ptr<access_log> log_;
  std::unique_ptr<gate_script> script_;
  bool goes_by_names_ = false;  // TLS names choose a connection's backend
  bond_means bond_means_;
  bond::list bonds_;
  std::uint64_t last_client_ = 0;
  web_gate web_;
  message_gate messages_;
  checker checker_;
  serve::acceptor acceptor_;
};

}  // namespace strata::runtime::proxy
