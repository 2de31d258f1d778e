#include "runtime/proxy/proxy.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "proto/token.hpp"
#include "runtime/introducers.hpp"
#include "runtime/proxy/admission/admission.hpp"
#include "runtime/proxy/ends.hpp"
#include "runtime/proxy/gate.hpp"
#include "runtime/proxy/heads/field_rule.hpp"
#include "runtime/proxy/web/route.hpp"
#include "runtime/scripting/scripted.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::proxy {

namespace {

class proxy final : public scripting::scripted<proxy_options, gate> {
 public:
  explicit proxy(context&& context) : scripted(std::move(context), option_table()) {}

  [[nodiscard]] std::vector<nlohmann::json> figures() const override;
  [[nodiscard]] std::vector<std::vector<detail>> details() const override;
  loop::task<result<nlohmann::json>> backends(operation_call call);
  loop::task<result<nlohmann::json>> clients(operation_call call);
  loop::task<result<nlohmann::json>> disconnect(operation_call call);
  [[nodiscard]] std::vector<std::string> needs() const override;
  [[nodiscard]] bool may_overlap() const override { return is_shareable(carried(running())); }
  [[nodiscard]] std::vector<std::string> follows() const override;
  [[nodiscard]] std::string warning() const override;

 private:
  [[nodiscard]] result<void> check(const proxy_options& options) const override;
  [[nodiscard]] result<void> check_given(const proxy_options& next,
                                         const nlohmann::json& changes) const override;
  [[nodiscard]] std::vector<std::string_view> carried(const proxy_options& next) const override;
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override;
  [[nodiscard]] std::size_t wanted_loops() const override { return wanted().threads; }
  loop::task<void> stop(loop::time_point limit) override {
    const auto drain_limit = given().home.now() + loop::from_seconds(wanted().drain_timeout);
    return scripted::stop(std::min(limit, drain_limit));
  }
  [[nodiscard]] result<void> open_identity() override;
  void close_identity() override { identity_.close(); }
  [[nodiscard]] result<void> try_certificates() const override;
  [[nodiscard]] loop::task<result<bool>> read_certificates() override {
    co_return identity_.reload();
  }
  [[nodiscard]] nlohmann::json certificates() const override {
    return has_parts() ? identity_.shown() : certificates_in(wanted().cert);
  }

  tls_identity identity_{given().home, given().log};
  void keep_figures() override;
  [[nodiscard]] proxy_figures counted() const;
  [[nodiscard]] std::string written_file() const override { return wanted().access_log; }
  loop::task<result<bool>> open_files_again() override;

  std::shared_ptr<const net::tls_context> trusted_;
  std::shared_ptr<const net::tls_context> trusted_http2_;
  std::shared_ptr<const net::tls_context> trusted_http1_;
  proxy_figures past_counted_;
  std::weak_ptr<shared_view> view_;  ///< owned by the gates
};

bool is_check_target(const std::string& path) {
  return path.starts_with('/') &&
         std::ranges::all_of(path, [](char each) { return each > ' ' && each < 0x7f; });
}

result<void> check_sticky(const proxy_options& options) {
  if (options.sticky.empty() || proto::is_token(options.sticky)) return {};
  return failure(errc::invalid_argument, "use --sticky '" + options.sticky + "'",
                 "it is not a valid name for a cookie",
                 "write letters, digits and -_. without blanks");
}

result<void> proxy::check_given(const proxy_options& next, const nlohmann::json& changes) const {
  if (has_parts() && joins_messages(next) != joins_messages(running())) {
    const bool is_now = joins_messages(running());
    return failure(errc::conflict, "change the ends of '" + given().name + "'",
                   is_now ? "it forwards messages, and the change would make it forward "
                            "connections as they are"
                          : "it forwards connections as they are, and the change would make it "
                            "forward messages",
                   "stop it first: strata stop " + given().name);
  }
  const auto how = parse_balance(next.balance);
  if (!changes.contains("balance") || !how || !is_of_requests(how->how)) return {};
  const auto all = carried(next);
  if (std::ranges::find(all, "HTTP") != all.end()) return {};
  return failure(errc::invalid_argument, "use --balance " + next.balance,
                 "it has no effect: no endpoint carries HTTP",
                 "add such an endpoint or leave it out");
}

result<void> proxy::check(const proxy_options& options) const {
  const auto urls = options.endpoints();
  if (urls.empty()) {
    return failure(errc::invalid_argument, "create a proxy", "no address to listen on is given",
                   "give -p PORT or --listen URL");
  }
  if (auto good = check_fronts(options); !good) return good;
  if (options.backend.empty() && options.route.empty()) {
    return failure(errc::invalid_argument, "create a proxy", "it has no backend",
                   "give --backend HOST:PORT, a URL or a runtime's name");
  }
  for (const auto& each : options.route) {
    const auto read = parse_route(each);
    if (!read) return std::unexpected(read.error());
    if (auto good = check_route(options, *read); !good) return good;
  }
  for (const auto* const rules : {&options.request_header, &options.answer_header}) {
    for (const auto& each : *rules) {
      if (const auto read = parse_field_rule(each); !read) return std::unexpected(read.error());
    }
  }
  for (const auto& each : all_backends(options)) {
    const auto known = parse_backend(each);
    if (!known) return std::unexpected(known.error());
    if (auto good = check_backend(options, *known); !good) return good;
    const bool is_runtime = !known->is_group && known->url.scheme->form == net::url_form::name;
    if (is_runtime && known->url.host == given().name) {
      return failure(errc::invalid_argument, "use backend '" + each + "'",
                     "it is the proxy itself, which would forward clients to itself without end",
                     "name another runtime");
    }
  }
  if (const auto read = parse_balance(options.balance); !read) return std::unexpected(read.error());
  if (auto good = check_sticky(options); !good) return good;
  if (options.check != "off" && options.check_interval < 0.01) {
    return failure(errc::invalid_argument, "check backends", "checks need a pause between them",
                   "give a --check-interval of 0.01 s or more");
  }
  if (!is_check_target(options.check_path)) {
    return failure(errc::invalid_argument, "use --check-path '" + options.check_path + "'",
                   "it is not a path", "write /PATH, of characters that need no percent-encoding");
  }
  if (const auto read = http::access_format::parse(options.access_format); !read) {
    return std::unexpected(read.error());
  }
  for (const auto* const each : {&options.trust, &options.allow, &options.deny}) {
    if (auto good = check_networks(*each); !good) return good;
  }
  if (auto checked = check_tls(static_cast<const tls_client_options&>(options)); !checked) {
    return checked;
  }
  if (const auto read = introducers::parse(options.proxy_protocol); !read) {
    return std::unexpected(read.error());
  }
  return check_tls(options, urls);
}

std::vector<std::string_view> proxy::carried(const proxy_options& next) const {
  auto all = carried_by(next.endpoints());
  if (may_be_secure(all_backends(next))) all.emplace_back("TLS to backends");
  const auto fronts = next.endpoints();
  const bool is_web =
      std::ranges::any_of(fronts, [&next](const auto& front) { return has_web(next, front); });
  if (is_web && std::ranges::find(all, "HTTP") == all.end()) all.emplace_back("HTTP");
  if (joins_messages(next)) {
    all.emplace_back("messages");
    if (leads_to_websockets(next)) all.emplace_back("WebSocket backends");
  }
  return all;
}

result<void> proxy::try_certificates() const {
  if (auto good = try_files(static_cast<const tls_server_options&>(wanted())); !good) return good;
  return try_files(static_cast<const tls_client_options&>(wanted()));
}

result<void> proxy::open_identity() {
  trusted_ = nullptr;
  if (may_be_secure(all_backends(running()))) {
    auto read = read_client_tls(running());
    if (!read) return std::unexpected(read.error());
    trusted_ = std::move(*read);
    read = read_client_tls(running(), {"h2", "http/1.1"});
    if (!read) return std::unexpected(read.error());
    trusted_http2_ = std::move(*read);
    read = read_client_tls(running(), {"http/1.1"});
    if (!read) return std::unexpected(read.error());
    trusted_http1_ = std::move(*read);
  }
  const auto fronts = running().endpoints();
  const bool is_web =
      std::ranges::all_of(fronts, [this](const auto& front) { return has_web(running(), front); });
  return identity_.open(
      running(), is_web ? std::vector<std::string>{"h2", "http/1.1"} : std::vector<std::string>{});
}

proxy::part_list proxy::make_parts(const std::vector<loop::loop*>& loops) {
  part_list made;
  const auto view = std::make_shared<shared_view>(loops.size());
  view_ = view;
  for (auto* const each : loops) {
    gate_setting setting{.given = given(),
                         .connections = connections(),
                         .shown = identity_.slot(),
                         .trusted = trusted_,
                         .trusted_http2 = trusted_http2_,
                         .trusted_http1 = trusted_http1_,
                         .shared = view,
                         .hurried = hurried(),
                         .count = loops.size(),
                         .values = shared()};
    made.push_back(std::make_unique<gate>(*each, made.size(), running(), std::move(setting)));
  }
  return made;
}

proxy_figures proxy::counted() const {
  auto sum = past_counted_;
  for (std::size_t i = 0; i < opened(); ++i) {
    add_figures(sum, part_at(i).counted_here(), figure_table());
  }
  return sum;
}

loop::task<result<bool>> proxy::open_files_again() {
  if (running().access_log.empty() && running().error_pages.empty()) co_return false;
  for (std::size_t i = 0; i < opened(); ++i) {
    auto done = co_await run_at(i, [](gate& gate) { return gate.open_files_again(); });
    if (!done) co_return std::unexpected(done.error());
  }
  co_return true;
}

void proxy::keep_figures() {
  scripted::keep_figures();
  past_counted_ = past_figures(counted(), figure_table());
}

std::vector<nlohmann::json> proxy::figures() const {
  auto values = scripted::figures();
  std::ranges::move(values_of(counted(), figure_table()), std::back_inserter(values));
  return values;
}

// The figures of all gates together. Two backends at the same place are counted as one.
std::vector<std::vector<detail>> proxy::details() const {
  std::map<std::pair<std::string, std::string>, branch_figures> sums;
  for (std::size_t i = 0; i < opened(); ++i) {
    for (const auto& each : part_at(i).branches()) {
      add_figures(sums[{each.route, each.backend}], *each.counted, backend_table());
    }
  }
  std::vector<detail> of_backends;
  std::vector<detail> of_routes;
  for (const auto& [name, counted] : sums) {
    const auto& [route, backend] = name;
    if (backend.empty()) {
      of_routes.push_back({.labels = {route}, .values = values_of(counted, route_table())});
    } else {
      of_backends.push_back(
          {.labels = {route, backend}, .values = values_of(counted, backend_table())});
    }
  }
  return {std::move(of_backends), std::move(of_routes)};
}

// All parts have the same backends, except while an edit is being applied, and share the state of
// each.
loop::task<result<nlohmann::json>> proxy::backends(operation_call /*call*/) {
  std::vector<backend_report> sum;
  for (std::size_t i = 0; i < opened(); ++i) {
    auto more = co_await run_at(i, [](gate& gate) { return gate.report(); });
    for (auto& each : more) {
      const auto known = std::ranges::find_if(sum, [&each](const backend_report& one) {
        return one.is.text == each.is.text && one.is.where() == each.is.where() &&
               one.route == each.route;
      });
      if (known == sum.end()) {
        sum.push_back(std::move(each));
        continue;
      }
      known->chosen += each.chosen;
      known->failed += each.failed;
      add_figures(known->counted, each.counted, backend_table());
    }
  }
  co_return json_of(sum);
}

loop::task<result<nlohmann::json>> proxy::clients(operation_call /*call*/) {
  std::vector<client_report> all;
  for (std::size_t i = 0; i < opened(); ++i) {
    auto more = co_await run_at(i, [](gate& gate) { return gate.clients(); });
    std::ranges::move(more, std::back_inserter(all));
  }
  co_return co_await json_of(given().home, std::move(all));
}

loop::task<result<nlohmann::json>> proxy::disconnect(operation_call call) {
  const auto client = call.parameters.at("client").get<std::uint64_t>();
  for (std::size_t i = 0; i < opened(); ++i) {
    const bool is_there =
        co_await run_at(i, [client](gate& gate) { return gate.disconnect(client); });
    if (is_there) co_return nlohmann::json();
  }
  co_return std::unexpected(no_such_client(client, given().name));
}

std::vector<std::string> proxy::needs() const {
  std::vector<std::string> names;
  for (const auto& each : all_backends(wanted())) {
    const auto known = parse_backend(each);
    if (!known || known->is_group) continue;
    if (known->url.scheme->form == net::url_form::name) names.push_back(known->url.host);
  }
  return names;
}

std::vector<std::string> proxy::follows() const {
  std::vector<std::string> groups;
  for (const auto& each : all_backends(wanted())) {
    const auto known = parse_backend(each);
    if (known && known->is_group) groups.push_back(known->url.host);
  }
  return groups;
}

std::string proxy::warning() const {
  const auto view = view_.lock();
  if (const auto trouble = view ? view->trouble() : std::string(); !trouble.empty()) {
    return "host not found: " + trouble;
  }
  return wanted().insecure ? "insecure: any certificate of a backend is accepted" : "";
}

}  // namespace

const std::vector<operation_row>& operation_rows() {
  static const auto rows = [] {
    auto all = scripting::script_operations<proxy>();
    all.push_back({.name = "backends",
                   .summary = "show the backends of a proxy and their state",
                   .schema = "Backend",
                   .answer = backend_answer_rows(),
                   .is_list = true,
                   .run = operation_method<&proxy::backends>::run});
    all.push_back(clients_operation(operation_method<&proxy::clients>::run));
    all.push_back(disconnect_operation(operation_method<&proxy::disconnect>::run));
    return all;
  }();
  return rows;
}

result<std::unique_ptr<runtime>> make(context&& context, const nlohmann::json& options) {
  return make_from<proxy>(std::move(context), options);
}

}  // namespace strata::runtime::proxy
