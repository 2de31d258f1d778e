#include "runtime/scripting/redis_settings.hpp"

#include <algorithm>
#include <utility>

#include "runtime/scripting/options_table.hpp"

namespace strata::runtime::scripting {

namespace {

constexpr double default_answer_ms = 5000;

}  // namespace

std::optional<redis_settings> read_redis_settings(const script_rights& rights, script::call& call,
                                                  int server_index, int options_index) {
  redis_settings settings;
  auto server = redis::parse_address(call.text(server_index));
  if (!server) {
    call.fail(describe(server.error()));
    return std::nullopt;
  }
  if (server->url.scheme->form == net::url_form::path) {
    if (auto allowed = check_unix_path(rights, server->url.path); !allowed) {
      call.fail(describe(allowed.error()));
      return std::nullopt;
    }
  }
  settings.server = std::move(*server);
  options_table options(call, options_index,
                        {"user", "password", "database", "timeout_ms", "ca", "insecure"});
  if (auto user = options.text("user")) settings.server.user = std::move(*user);
  if (auto password = options.text("password")) settings.server.password = std::move(*password);
  if (const auto number = options.number("database")) {
    settings.server.database = static_cast<std::uint64_t>(std::clamp(*number, 0.0, 1e9));
  }
  settings.timeout = options.timeout(default_answer_ms);
  settings.tls = {.ca = options.text("ca").value_or(""), .is_insecure = options.truth("insecure")};
  if (!options.is_good()) return std::nullopt;
  return settings;
}

loop::task<result<void>> open_connection(redis::connection& connection,
                                         const redis_settings& settings, net::directory* names) {
  net::connecting how{.timeout = settings.timeout, .names = names};
  if (settings.server.url.scheme->is_secure) {
    auto secure = net::tls_context::for_client(settings.tls);
    if (!secure) co_return std::unexpected(secure.error());
    how.secure = std::move(*secure);
  }
  co_return co_await connection.open(std::move(how), redis::protocol::resp3);
}

}  // namespace strata::runtime::scripting
