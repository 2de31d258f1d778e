#include "runtime/client/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "http/field.hpp"
#include "http/websocket_port.hpp"
#include "runtime/client/connection.hpp"
#include "runtime/client/connection_script.hpp"
#include "runtime/sharded.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::client {

namespace {

class client final : public sharded<client_options, connection> {
 public:
  explicit client(context&& given) : sharded(std::move(given), option_table()) {}

  loop::task<result<send_outcome>> send(std::string message) override;
  loop::task<result<void>> reload_script() override;
  [[nodiscard]] std::vector<nlohmann::json> figures() const override;
  [[nodiscard]] bool listens() const override { return false; }
  [[nodiscard]] std::vector<std::string> needs() const override;
  [[nodiscard]] std::string warning() const override;
  [[nodiscard]] nlohmann::json certificates() const override;

 private:
  [[nodiscard]] result<void> check(const client_options& wanted) const override;
  [[nodiscard]] result<void> check_given(const client_options& next,
                                         const nlohmann::json& changes) const override;
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override;
  [[nodiscard]] std::string written_file() const override { return wanted().write; }
  [[nodiscard]] result<void> try_certificates() const override { return try_files(wanted()); }
  [[nodiscard]] loop::task<result<bool>> read_certificates() override {
    co_return co_await run_at(0, [](connection& at) { return at.read_certificates(); });
  }
  void keep_figures() override;
  [[nodiscard]] scripting::script_figures counted_script() const;

  scripting::script_figures past_script_;
  /// It stays when the client stops.
  std::shared_ptr<scripting::shared_store> shared_ = std::make_shared<scripting::shared_store>();
};

result<void> client::check(const client_options& wanted) const {
  if (wanted.endpoint().empty()) {
    return failure(errc::invalid_argument, "make a client", "it has nowhere to connect",
                   "give -t HOST:PORT or --connect URL");
  }
  if (!wanted.connect.empty() && !wanted.target.empty()) {
    return failure(errc::invalid_argument, "make a client",
                   "both --target and --connect say where to connect", "give one of them");
  }
  auto url = net::parse_connecting(wanted.endpoint());
  if (!url) return std::unexpected(url.error());
  if (!url->is_for_one() && url->port == 0) {
    return failure(errc::invalid_argument, "connect to " + url->text(), "port 0 is no port",
                   "give the port that the server listens on");
  }
  if (!url->scheme->has_messages) {
    return failure(errc::invalid_argument, "connect to " + url->text(),
                   "a client exchanges messages, which the web carries in WebSockets",
                   "write ws" + url->text().substr(4));
  }
  http::websocket_wishes wishes{.fields = {}, .protocols = wanted.ws_protocol};
  for (const auto& each : wanted.header) {
    auto field = http::parse_field(each);
    if (!field) return std::unexpected(field.error());
    wishes.fields.push_back(std::move(*field));
  }
  if (auto checked = http::check_wishes(wishes); !checked) return checked;
  return check_tls(wanted);
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
      shared_));
  return made;
}

loop::task<result<send_outcome>> client::send(std::string message) {
  if (!running().lua.empty()) {
    auto ask = [&at = part_at(0), &message] { return at.script()->on_send(std::move(message)); };
    auto changed = co_await loop::call_on(given().home, loop_of(0), std::move(ask));
    if (!changed) co_return send_outcome{};
    message = std::move(*changed);
  }
  co_return co_await run_at(0, [&message](connection& at) { return at.send(as_bytes(message)); });
}

loop::task<result<void>> client::reload_script() {
  if (running().lua.empty()) co_return co_await runtime::reload_script();
  co_return co_await run_at(0, [](connection& at) { return at.script()->reload(); });
}

scripting::script_figures client::counted_script() const {
  auto sum = past_script_;
  const auto* const script = opened() == 0 ? nullptr : part_at(0).script();
  if (script != nullptr) add_figures(sum, script->counted(), scripting::script_figure_table());
  return sum;
}

void client::keep_figures() {
  sharded::keep_figures();
  past_script_ = past_figures(counted_script(), scripting::script_figure_table());
}

std::vector<nlohmann::json> client::figures() const {
  auto values = runtime::figures();
  std::ranges::move(values_of(counted_script(), scripting::script_figure_table()),
                    std::back_inserter(values));
  return values;
}

std::vector<std::string> client::needs() const {
  const auto url = net::parse_endpoint(wanted().endpoint());
  if (!url || url->scheme->form != net::url_form::name) return {};
  return {url->host};
}

nlohmann::json client::certificates() const {
  const auto& file = wanted().client_cert;
  const auto read = opened() == 0 ? nullptr : part_at(0).secure();
  if (read) return certificates_json(read->certificates());
  return certificates_in(file.empty() ? std::vector<std::string>{} : std::vector{file});
}

std::string client::warning() const {
  return wanted().insecure ? "insecure: it takes whatever certificate the server shows" : "";
}

}  // namespace

const std::vector<options::figure_row>& figure_rows() {
  static const auto rows = [] {
    auto all = common_figure_rows();
    std::ranges::move(rows_of(scripting::script_figure_table()), std::back_inserter(all));
    return all;
  }();
  return rows;
}

result<std::unique_ptr<runtime>> make(context&& given, const nlohmann::json& options) {
  return make_from<client>(std::move(given), options);
}

}  // namespace strata::runtime::client
