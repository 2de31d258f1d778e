#include "runtime/proxy/proxy.hpp"

#include <algorithm>

#include "runtime/proxy/gate.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::proxy {

namespace {

class proxy final : public sharded<proxy_options, gate> {
 public:
  explicit proxy(context&& given) : sharded(std::move(given), option_table()) {}

  loop::task<result<send_outcome>> send(std::string message) override;
  [[nodiscard]] std::vector<std::string> needs() const override;
  [[nodiscard]] std::string warning() const override;

 private:
  [[nodiscard]] result<void> check(const proxy_options& wanted) const override;
  [[nodiscard]] std::vector<std::string_view> carried(const proxy_options& next) const override;
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override;
  [[nodiscard]] std::size_t wanted_loops() const override { return wanted().threads; }
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
  std::shared_ptr<const net::tls_context> trusted_;
};

result<void> check_front(const std::string& text) {
  const auto url = net::parse_listening(text);
  if (!url) return std::unexpected(url.error());
  if (url->is_stream() && !url->is_web()) return {};
  return failure(errc::invalid_argument, "listen on '" + text + "'",
                 "a proxy passes streams on, as they are",
                 "use tcp://HOST:PORT, tls://HOST:PORT or unix:///PATH");
}

/// Backs whose connections may begin with TLS: only then are files of TLS read.
bool may_be_secure(const std::vector<std::string>& backs) {
  return std::ranges::any_of(backs, [](const std::string& text) {
    const auto known = parse_back(text);
    return known &&
           (known->url.scheme->is_secure || known->url.scheme->form == net::url_form::name);
  });
}

result<void> proxy::check(const proxy_options& wanted) const {
  const auto urls = wanted.endpoints();
  if (urls.empty()) {
    return failure(errc::invalid_argument, "make a proxy", "it has nowhere to listen",
                   "give -p PORT or --listen URL");
  }
  for (const auto& each : urls) {
    if (auto good = check_front(each); !good) return good;
  }
  if (wanted.backend.empty()) {
    return failure(errc::invalid_argument, "make a proxy", "it has nowhere to pass clients on to",
                   "give --backend HOST:PORT, a URL or a runtime's name");
  }
  for (const auto& each : wanted.backend) {
    const auto known = parse_back(each);
    if (!known) return std::unexpected(known.error());
    if (known->url.scheme->form == net::url_form::name && known->url.host == given().name) {
      return failure(errc::invalid_argument, "use backend '" + each + "'",
                     "it is the proxy itself, which would pass clients on to itself for ever",
                     "name another runtime");
    }
  }
  if (auto checked = check_tls(static_cast<const tls_client_options&>(wanted)); !checked) {
    return checked;
  }
  return check_tls(wanted, urls);
}

std::vector<std::string_view> proxy::carried(const proxy_options& next) const {
  auto all = carried_by(next.endpoints());
  if (may_be_secure(next.backend)) all.emplace_back("TLS to backs");
  return all;
}

result<void> proxy::try_certificates() const {
  if (auto good = try_files(static_cast<const tls_server_options&>(wanted())); !good) return good;
  return try_files(static_cast<const tls_client_options&>(wanted()));
}

result<void> proxy::open_identity() {
  trusted_ = nullptr;
  if (may_be_secure(running().backend)) {
    auto read = read_client_tls(running());
    if (!read) return std::unexpected(read.error());
    trusted_ = std::move(*read);
  }
  return identity_.open(running());
}

proxy::part_list proxy::make_parts(const std::vector<loop::loop*>& loops) {
  part_list made;
  for (auto* const each : loops) {
    gate_setting setting{.given = given(),
                         .connections = connections(),
                         .shown = identity_.slot(),
                         .trusted = trusted_,
                         .count = loops.size()};
    made.push_back(std::make_unique<gate>(*each, made.size(), running(), std::move(setting)));
  }
  return made;
}

loop::task<result<send_outcome>> proxy::send(std::string /*message*/) {
  co_return failure(errc::not_supported, "send through '" + given().name + "'",
                    "a proxy passes on what others send",
                    "send to a server or a client: strata ls");
}

std::vector<std::string> proxy::needs() const {
  std::vector<std::string> names;
  for (const auto& each : wanted().backend) {
    const auto known = parse_back(each);
    if (known && known->url.scheme->form == net::url_form::name) names.push_back(known->url.host);
  }
  return names;
}

std::string proxy::warning() const {
  return wanted().insecure ? "insecure: it takes whatever certificate a back shows" : "";
}

}  // namespace

result<std::unique_ptr<runtime>> make(context&& given, const nlohmann::json& options) {
  return make_from<proxy>(std::move(given), options);
}

}  // namespace strata::runtime::proxy
