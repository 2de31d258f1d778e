#include "runtime/client/client.hpp"

#include <fmt/format.h>

#include "http/field.hpp"
#include "http/websocket_port.hpp"
#include "runtime/client/connection.hpp"
#include "runtime/client/connection_script.hpp"
#include "runtime/scripting/scripted.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::client {

namespace {

class client final : public scripting::scripted<client_options, connection> {
 public:
  explicit client(context&& context) : scripted(std::move(context), option_table()) {}

  loop::task<result<nlohmann::json>> send(operation_call call);
  [[nodiscard]] bool listens() const override { return false; }
  [[nodiscard]] std::vector<std::string> needs() const override;
  [[nodiscard]] std::vector<std::string> follows() const override;
  [[nodiscard]] std::string warning() const override;
  [[nodiscard]] nlohmann::json certificates() const override;

 private:
  [[nodiscard]] std::string target_name() const;
  [[nodiscard]] result<void> check(const client_options& options) const override;
  [[nodiscard]] result<void> check_given(const client_options& next,
                                         const nlohmann::json& changes) const override;
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override;
  [[nodiscard]] std::string written_file() const override { return wanted().write; }
  [[nodiscard]] result<void> try_certificates() const override { return try_files(wanted()); }
  [[nodiscard]] loop::task<result<bool>> read_certificates() override {
    co_return co_await run_at(
        0, [](connection& connection) { return connection.read_certificates(); });
  }
};

result<void> client::check(const client_options& options) const {
  if (options.endpoint().empty()) {
    return failure(errc::invalid_argument, "make a client", "it has nowhere to connect",
                   "give -t HOST:PORT or --connect URL");
  }
  if (!options.connect.empty() && !options.target.empty()) {
    return failure(errc::invalid_argument, "make a client", "both --target and --connect are given",
                   "give only one of them");
  }
  auto url = net::parse_connecting(options.endpoint());
  if (!url) return std::unexpected(url.error());
  if (!url->is_for_one() && url->port == 0) {
    return failure(errc::invalid_argument, "connect to " + url->text(),
                   "0 is not a port to connect to", "give the port that the server listens on");
  }
  if (!url->scheme->has_messages) {
    return failure(errc::invalid_argument, "connect to " + url->text(),
                   "a client exchanges messages, which HTTP carries only in WebSockets",
                   "write ws" + url->text().substr(4));
  }
  http::websocket_wishes wishes{.fields = {}, .protocols = options.ws_protocol};
  for (const auto& each : options.header) {
    auto field = http::parse_field(each);
    if (!field) return std::unexpected(field.error());
    wishes.fields.push_back(std::move(*field));
  }
  if (auto checked = http::check_wishes(wishes); !checked) return checked;
  return check_tls(options);
}

result<void> client::check_given(const client_options& next, const nlohmann::json& changes) const {
  const bool is_named = changes.contains("reconnect_min") || changes.contains("reconnect_max");
  if (!is_named || next.reconnect_min <= next.reconnect_max) return {};
  return failure(errc::invalid_argument,
                 fmt::format("wait {} s before the first attempt to reconnect", next.reconnect_min),
                 fmt::format("it is longer than the longest wait, {} s", next.reconnect_max),
                 "lower --reconnect-min or raise --reconnect-max");
}

client::part_list client::make_parts(const std::vector<loop::loop*>& loops) {
  part_list made;
  made.push_back(std::make_unique<connection>(
      *loops[0], running(), given(), connections(), hurried(),
      [this](const std::string& why, bool is_done) { is_done ? finish(why) : fail(why); },
      shared()));
  return made;
}

loop::task<result<nlohmann::json>> client::send(operation_call call) {
  const auto message = co_await change_sent(std::move(call.body));
  if (!message) co_return json_of(send_outcome{});
  const auto sent = co_await run_at(
      0, [&message](connection& connection) { return connection.send(as_bytes(*message)); });
  if (!sent) co_return std::unexpected(sent.error());
  co_return json_of(*sent);
}

std::vector<std::string> client::needs() const {
  const auto target = target_name();
  if (target.empty() || target.starts_with('@')) return {};
  return {target};
}

std::vector<std::string> client::follows() const {
  const auto target = target_name();
  if (!target.starts_with('@')) return {};
  return {target.substr(1)};
}

// The runtime, or the group, to which it connects; empty: an address.
std::string client::target_name() const {
  const auto url = net::parse_endpoint(wanted().endpoint());
  return url && url->scheme->form == net::url_form::name ? url->host : "";
}

nlohmann::json client::certificates() const {
  const auto& file = wanted().client_cert;
  const auto read = opened() == 0 ? nullptr : part_at(0).secure();
  if (read) return certificates_json(read->certificates());
  return certificates_in(file.empty() ? std::vector<std::string>{} : std::vector{file});
}

std::string client::warning() const {
  return wanted().insecure ? "insecure: any certificate of the server is accepted" : "";
}

}  // namespace

const std::vector<operation_row>& operation_rows() {
  static const auto rows = [] {
    auto all = scripting::script_operations<client>();
    all.push_back(sending_operation(operation_method<&client::send>::run));
    return all;
  }();
  return rows;
}

result<std::unique_ptr<runtime>> make(context&& context, const nlohmann::json& options) {
  return make_from<client>(std::move(context), options);
}

}  // namespace strata::runtime::client
