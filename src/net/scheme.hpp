// The one table of endpoints that listen and connect: a row per URL scheme.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "net/datagram.hpp"
#include "net/endpoint_url.hpp"
#include "net/listener.hpp"
#include "net/stream.hpp"

namespace strata::net {

/// Where one endpoint listens: its URL and its resolved address.
struct bind_target {
  endpoint_url url;
  loop::socket_address address;  ///< empty if the scheme has no addresses

  /// Its text once it is bound: with the actual address and port.
  [[nodiscard]] std::string bound_text() const;
};

/// A listening endpoint: streams to accept, or messages. Exactly one is set.
struct listening {
  std::unique_ptr<listener> streams;
  std::unique_ptr<datagram> messages;
};

/// A connected endpoint: a stream, or messages to and from one peer. Exactly one is set.
struct connection {
  std::unique_ptr<stream> bytes;
  std::unique_ptr<datagram> messages;
};

/// What follows `NAME://`. `web`: a host, a port, which is optional for connecting, and a path.
enum class url_form : std::uint8_t { host_and_port, web, path, interface, queue, name };
/// What an endpoint carries.
enum class traffic : std::uint8_t { bytes, datagrams, frames };

struct scheme_row {
  std::string_view name;
  url_form form;
  traffic carries;
  bool is_secure = false;    ///< its bytes use TLS, from the start, whether it listens or connects
  bool has_messages = true;  ///< a connection exchanges messages; for the web, by WebSocket
  std::uint16_t default_port = 0;  ///< for a web form: the port if none is given
  std::string_view example;
  std::string_view help;
  /// Listens, and writes the actual address into `target`. Null if the scheme cannot listen.
  result<listening> (*listen)(loop::loop& loop, bind_target& target,
                              const loop::listen_options& options);
  /// Checks that nothing else listens there. Null if several loops cannot share the endpoint: then
  /// `listen` finds out.
  result<void> (*probe)(loop::loop& loop, const loop::socket_address& address);
  /// Connects to `address`, one of the URL's, until `limit`. Null: the scheme is a name for other
  /// URLs.
  loop::task<result<connection>> (*connect)(loop::loop& loop, endpoint_url url,
                                            loop::socket_address address, loop::time_point limit);
};

[[nodiscard]] std::span<const scheme_row> schemes();
/// `tcp://HOST:PORT, udp://HOST:PORT, … or …`: an example of each scheme that the use allows, for
/// help and errors.
[[nodiscard]] std::string scheme_examples(url_use use);
/// As `parse_endpoint`. Errors: also for schemes that cannot listen.
[[nodiscard]] result<endpoint_url> parse_listening(std::string_view text);

/// As `parse_endpoint`. Errors: also for `*`, which is no address to connect to.
[[nodiscard]] result<endpoint_url> parse_connecting(std::string_view text);

/// The address of a URL whose host is an address or `*`. Errors: invalid_argument for a name.
[[nodiscard]] result<loop::socket_address> address_of(const endpoint_url& url);
/// Looks up a URL's addresses: one empty address if the scheme has none. Errors: unknown names.
[[nodiscard]] loop::task<result<std::vector<loop::socket_address>>> find_addresses(
    loop::loop& loop, endpoint_url url);
/// Looks up the targets of `endpoints`, which parse; each address appears once. Errors: unknown
/// names.
[[nodiscard]] loop::task<result<std::vector<bind_target>>> find_bind_targets(
    loop::loop& loop, std::vector<std::string> endpoints);

/// Checks that nothing else listens on `targets`. Call it before several loops share them: on a
/// shared port, another program's or runtime's listener goes unnoticed. Port 0 is always free.
/// Errors: that of the first target that is taken.
[[nodiscard]] result<void> probe(loop::loop& loop, const std::vector<bind_target>& targets);

/// Whether the two cannot be listened on together; with frames, both would receive every frame.
[[nodiscard]] bool collide(const endpoint_url& one, const endpoint_url& other);

}  // namespace strata::net
