// The one table of what listens and connects: a row a URL scheme.
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

/// Where one endpoint listens: its URL, and the address that was found for it.
struct bind_target {
  endpoint_url url;
  loop::socket_address address;  ///< none where the scheme has no addresses

  /// As it is shown once it is bound: with the address and port that were taken.
  [[nodiscard]] std::string bound_text() const;
};

/// What listens: streams to be accepted, or messages. One of the two.
struct listening {
  std::unique_ptr<listener> streams;
  std::unique_ptr<datagram> messages;
};

/// What is connected: a stream, or messages to and from one peer. One of the two.
struct connection {
  std::unique_ptr<stream> bytes;
  std::unique_ptr<datagram> messages;
};

/// What stands behind `NAME://`.
/// `web`: a host and a port, which may be left out where something connects, and a path.
enum class url_form : std::uint8_t { host_and_port, web, path, interface, queue, name };
/// What an endpoint carries.
enum class traffic : std::uint8_t { bytes, datagrams, frames };

struct scheme_row {
  std::string_view name;
  url_form form;
  traffic carries;
  bool is_secure = false;  ///< its bytes go by TLS: who listens, and who connects, begins with that
  bool has_messages = true;  ///< who connects exchanges messages there; the web's are WebSockets
  std::uint16_t default_port = 0;  ///< of a web form: meant where none is given
  std::string_view example;
  std::string_view help;
  /// Listens, and writes the address that was taken into `target`. Null: nobody can.
  result<listening> (*listen)(loop::loop& loop, bind_target& target,
                              const loop::listen_options& options);
  /// Whether nobody else listens there. Null: several loops cannot share it, so `listen` finds out.
  result<void> (*probe)(loop::loop& loop, const loop::socket_address& address);
  /// Connects to `address`, one of the URL's, until `limit`. Null: it is a name of other URLs.
  loop::task<result<connection>> (*connect)(loop::loop& loop, endpoint_url url,
                                            loop::socket_address address, loop::time_point limit);
};

[[nodiscard]] std::span<const scheme_row> schemes();
/// `tcp://HOST:PORT, udp://HOST:PORT, … or …`: an example of each that the use allows, for help and
/// for errors.
[[nodiscard]] std::string scheme_examples(url_use use);
/// As `parse_endpoint`. Errors: also of what nobody can listen on.
[[nodiscard]] result<endpoint_url> parse_listening(std::string_view text);

/// As `parse_endpoint`. Errors: also of `*`, where nobody can connect.
[[nodiscard]] result<endpoint_url> parse_connecting(std::string_view text);

/// The address of a URL whose host is one, or `*`. Errors: invalid_argument for a name.
[[nodiscard]] result<loop::socket_address> address_of(const endpoint_url& url);
/// Where a URL leads: one empty address where the scheme has none. Errors: of names not found.
[[nodiscard]] loop::task<result<std::vector<loop::socket_address>>> find_addresses(
    loop::loop& loop, endpoint_url url);
/// Of `endpoints`, which parse; each address once. Errors: of names that are not found.
[[nodiscard]] loop::task<result<std::vector<bind_target>>> find_bind_targets(
    loop::loop& loop, std::vector<std::string> endpoints);

/// Whether nobody else listens on `targets`. To be asked before several loops share them: a shared
/// port lets another program's listener, or another runtime's, go unnoticed. Ports that are 0 are
/// free. Errors: of the first that is taken.
[[nodiscard]] result<void> probe(loop::loop& loop, const std::vector<bind_target>& targets);

/// Both cannot be listened on; of frames, both would hear each of them.
[[nodiscard]] bool collide(const endpoint_url& one, const endpoint_url& other);

}  // namespace strata::net
