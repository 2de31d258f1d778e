// The part of the gate that finds a backend for a client, and connects to it.
#include <fmt/format.h>

#include "net/connector.hpp"
#include "proto/tls/client_hello.hpp"
#include "runtime/proxy/gate.hpp"

namespace strata::runtime::proxy {

// The stream caches its addresses when they are first asked for; here they are needed once only, so
// they are not cached. A stream that speaks for another client has stored that client.
net::peer_info gate::peer_of(net::stream& client) const {
  if (!options_.proxy_protocol.empty() || client.tls() != nullptr) return client.peer();
  const auto& socket = client.out().socket();
  return {.address = loop_.remote_address(socket), .local = loop_.local_address(socket)};
}

loop::task<std::optional<opened_backend>> gate::find_backend(net::stream& client,
                                                             const known_client* known) {
  std::shared_ptr<backends> named;
  std::string name;
  if (goes_by_names_) {
    name = co_await name_asked_for(client);
    named = web_.named(name);
  }
  const auto peer = peer_of(client);
  const auto mark = co_await mark_for(peer, name, known);
  if (!mark) {
    client.break_off();
    co_return std::nullopt;
  }
  auto found = co_await open_backend(
      named ? *named : backends_, peer, [this, &client] { return client_left(client); }, *mark);
  if (found && !found->over.bytes) {
    found = failure(errc::invalid_argument, "connect to " + found->use.of()->is.where(),
                    "it is not a stream");
  }
  if (found && known != nullptr && known->is_closed()) {
    client.break_off();
    co_return std::nullopt;
  }
  if (found) {
    found->of = std::move(named);
    co_return std::move(*found);
  }
  if (found.error().code == errc::canceled) co_return std::nullopt;
  counters_.errors.add();
  setting_.given.log->write_few(
      "no backend", level::error,
      fmt::format("client {} found no backend: {}", peer.address.text(), describe(found.error())));
  client.break_off();
  co_return std::nullopt;
}

// A connection that the script answers as if it were an HTTP request is closed, too.
loop::task<result<std::uint64_t>> gate::mark_for(const net::peer_info& client,
                                                 const std::string& name,
                                                 const known_client* known) {
  if (known != nullptr && known->is_closed()) {
    co_return failure(errc::permission_denied, "pass a connection on", "the script has closed it");
  }
  if (!script_ || !script_->has(scripting::callback::route)) co_return 0U;
  const nlohmann::json described{{"id", known == nullptr ? 0 : known->id()},
                                 {"peer", client.address.text()},
                                 {"local", client.local.text()},
                                 {"name", name},
                                 {"tls_subject", client.tls_subject}};
  const auto chosen = co_await script_->route(&described);
  if (!chosen) co_return std::unexpected(chosen.error());
  if (chosen->answer)
    co_return failure(errc::permission_denied, "pass a connection on", "the script refuses");
  co_return chosen->to ? chosen->to->mark : 0U;
}

// Errors: those of the backend that was tried last.
loop::task<result<opened_backend>> gate::open_backend(backends& backends,
                                                      const net::peer_info& client,
                                                      std::function<loop::task<>()> client_left,
                                                      std::uint64_t mark) {
  std::vector<backend_ref> tried;
  const std::uint64_t marks[] = {mark};
  std::optional<error> last;
  const auto how = parse_balance(options_.balance)->how;
  for (;;) {
    wish what{.how = how, .key = key_of(client.address), .tried = tried};
    what.client_left = client_left;
    if (mark != 0) what.marks = marks;
    auto use = co_await backends.enter(std::move(what));
    if (!use) {
      const bool was_tried = last && use.error().code == errc::not_found;
      co_return std::unexpected(was_tried ? std::move(*last) : use.error());
    }
    auto made = co_await dial(use->of(), use->of()->preface_for(&client));
    if (made) co_return opened_backend{.use = std::move(*use), .over = std::move(*made)};
    use->note_unreached(made.error());
    last = made.error();
    tried.push_back(use->of());
  }
}

// The data read for this is returned to the stream, for the backend.
loop::task<std::string> gate::name_asked_for(net::stream& client) {
  const auto limit = loop_.now() + loop::from_seconds(options_.handshake_timeout);
  std::string said;
  std::string name;
  for (;;) {
    const auto come = co_await client.receive(limit);
    if (!come || !*come || (*come)->empty()) break;
    said += as_text((*come)->bytes());
    auto read = proto::read_server_name(as_bytes(said));
    if (read && !*read) continue;
    if (read) name = std::move(**read);
    break;
  }
  client.unread(loop::buffer::copy_of(as_bytes(said)));
  co_return name;
}

loop::task<> gate::client_left(net::stream& client) {
  auto first = co_await client.receive();
  if (!first) co_return;
  client.unread(std::move(*first));
  co_await loop_.sleep(std::chrono::hours(24 * 365));
}

loop::task<result<net::connection>> gate::connect(backend_ref backend, std::string preface) {
  auto secure = backend->is.speaks_http2 ? setting_.trusted_http2 : setting_.trusted;
  return connect(std::move(backend), std::move(preface), std::move(secure));
}

loop::task<result<net::connection>> gate::connect(backend_ref backend, std::string preface,
                                                  std::shared_ptr<const net::tls_context> secure) {
  const auto url = backend->is.url;
  net::connecting how{.timeout = loop::from_seconds(options_.connect_timeout),
                      .names = &setting_.given.names,
                      .secure = std::move(secure),
                      .preface = std::move(preface),
                      .at = backend->is.at};
  auto made = co_await net::connect(loop_, url, std::move(how));
  co_return made;
}

loop::task<result<std::unique_ptr<net::stream>>> gate::stream_of(
    loop::task<result<net::connection>> connection, std::string place) {
  auto done = co_await std::move(connection);
  if (!done) co_return std::unexpected(done.error());
  if (!done->bytes) {
    co_return failure(errc::invalid_argument, "connect to " + place, "it is not a stream");
  }
  co_return std::move(done->bytes);
}

std::vector<backend_ref> gate::all_backends() const {
  auto all = backends_.all();
  web_.for_each_route([&all](const std::string& /*route*/, const backends& backends) {
    all.insert(all.end(), backends.all().begin(), backends.all().end());
  });
  return all;
}

loop::task<result<net::connection>> gate::dial(backend_ref backend, std::string preface) {
  auto made = co_await connect(backend, std::move(preface));
  if (made) {
    auto& stands = *backend->stands;
    if (stands.rests_until.get() > loop_.now()) stands.came = loop_.now();
    if (stands.rests_until.get() != loop::time_point{}) stands.rests_until = loop::time_point{};
    co_return made;
  }
  auto why = made.error();
  ++backend->failed;
  const auto until = loop_.now() + loop::from_seconds(options_.rest);
  backend->stands->rests_until = until;
  backend->stands->came = until;
  setting_.given.log->write_few("backend " + backend->is.text, level::warning,
                                fmt::format("backend '{}' is not used for {} s: {}",
                                            backend->is.text, options_.rest, describe(why)));
  co_return std::unexpected(std::move(why));
}

}  // namespace strata::runtime::proxy
