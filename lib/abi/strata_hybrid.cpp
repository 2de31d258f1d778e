// The C ABI of hybrids: translates to the C++ library and back, without decisions of its own.
#include <algorithm>
#include <cerrno>
#include <new>

#include "abi/error.hpp"
#include "abi/options.hpp"
#include "strata/ipc/hybrid.hpp"
#include "strata/strata_ipc.h"

struct strata_hybrid {
  strata::ipc::hybrid_endpoint within;
  strata::ipc::data_message came{};
};
struct strata_hybrid_listener {
  strata::ipc::hybrid_listener within;
};

namespace {

using std::chrono::milliseconds;
using strata::errc;
using strata::abi::fail;
using strata::abi::fail_missing;

strata::ipc::hybrid_config config_of(const strata_hybrid_options* options) {
  const auto from = strata::abi::known(options, strata_hybrid_defaults);
  strata::ipc::hybrid_config config;
  config.tcp_port = from.tcp_port;
  if (from.listen_address != nullptr) config.listen_address = from.listen_address;
  config.ethertype = from.ethertype;
  config.vlan_id.reset();
  if (from.vlan_id >= 0) config.vlan_id = static_cast<std::uint16_t>(from.vlan_id);
  config.priority = from.priority;
  config.timeout = milliseconds(from.timeout_ms);
  config.greeting_timeout = milliseconds(from.greeting_timeout_ms);
  config.peer_timeout = milliseconds(from.peer_timeout_ms);
  return config;
}

template <class Handle, class Within>
int hand_over(strata::result<Within> within, Handle** handle) {
  if (!within) return fail(within.error());
  *handle = new (std::nothrow) Handle{std::move(*within)};
  return *handle == nullptr ? -ENOMEM : 0;
}

// Returns nullopt instead of the library's timed_out, since no message is no error here.
strata::result<std::optional<strata::ipc::data_message>> next_of(
    strata::ipc::hybrid_endpoint& endpoint, int timeout_ms) {
  if (timeout_ms == 0) return endpoint.try_receive_data();
  auto came = timeout_ms < 0 ? endpoint.receive_data()
                             : endpoint.receive_data_with_timeout(milliseconds(timeout_ms));
  if (came) return std::optional(std::move(*came));
  if (came.error().code == errc::timed_out) return std::nullopt;
  return std::unexpected(came.error());
}

}  // namespace

void strata_hybrid_defaults(strata_hybrid_options* options) {
  const strata::ipc::hybrid_config usual;
  *options = {.size = sizeof *options,
              .tcp_port = usual.tcp_port,
              .listen_address = nullptr,
              .ethertype = usual.ethertype,
              .vlan_id = usual.vlan_id ? int{*usual.vlan_id} : -1,
              .priority = usual.priority,
              .timeout_ms = static_cast<std::uint32_t>(usual.timeout.count()),
              .greeting_timeout_ms = static_cast<std::uint32_t>(usual.greeting_timeout.count()),
              .peer_timeout_ms = static_cast<std::uint32_t>(usual.peer_timeout.count())};
}

int strata_hybrid_listen(const char* interface_name, const strata_hybrid_options* options,
                         strata_hybrid_listener** listener) {
  if (interface_name == nullptr || listener == nullptr) return fail_missing("an interface");
  return hand_over(strata::ipc::hybrid_listener::listen(interface_name, config_of(options)),
                   listener);
}

void strata_hybrid_listener_close(strata_hybrid_listener* listener) { delete listener; }

uint16_t strata_hybrid_listener_port(const strata_hybrid_listener* listener) {
  return listener->within.port();
}

int strata_hybrid_listener_fd(const strata_hybrid_listener* listener) {
  return listener->within.fd();
}

int strata_hybrid_accept(strata_hybrid_listener* listener, strata_hybrid** endpoint) {
  if (endpoint == nullptr) return fail_missing("the output pointer for an endpoint");
  return hand_over(listener->within.accept(), endpoint);
}

int strata_hybrid_connect(const char* interface_name, const char* host,
                          const strata_hybrid_options* options, strata_hybrid** endpoint) {
  if (interface_name == nullptr || host == nullptr || endpoint == nullptr) {
    return fail_missing("an interface or a host");
  }
  return hand_over(
      strata::ipc::hybrid_endpoint::create_client(interface_name, host, config_of(options)),
      endpoint);
}

void strata_hybrid_close(strata_hybrid* endpoint) { delete endpoint; }

int strata_hybrid_send(strata_hybrid* endpoint, const void* payload, size_t size) {
  if (payload == nullptr && size != 0) return fail_missing("a message");
  const auto sent = endpoint->within.send_data({static_cast<const std::byte*>(payload), size});
  return sent ? 0 : fail(sent.error());
}

size_t strata_hybrid_max_payload(const strata_hybrid* endpoint) {
  return endpoint->within.max_payload();
}

void strata_hybrid_peer(const strata_hybrid* endpoint, uint8_t mac[6]) {
  std::ranges::copy(endpoint->within.peer().octets(), mac);
}

int strata_hybrid_receive(strata_hybrid* endpoint, int timeout_ms,
                          strata_hybrid_message* received) {
  if (received == nullptr) return fail_missing("the output pointer for a message");
  auto next = next_of(endpoint->within, timeout_ms);
  if (!next) return fail(next.error());
  if (!*next) return 0;
  endpoint->came = std::move(**next);
  *received = {.bytes = endpoint->came.payload.data(),
               .size = endpoint->came.payload.size(),
               .was_tagged = static_cast<std::uint8_t>(endpoint->came.was_tagged),
               .priority = endpoint->came.priority,
               .vlan_id = endpoint->came.vlan_id};
  return 1;
}

int strata_hybrid_data_fd(const strata_hybrid* endpoint) { return endpoint->within.data_fd(); }

int strata_hybrid_control_fd(const strata_hybrid* endpoint) {
  return endpoint->within.control_fd();
}
