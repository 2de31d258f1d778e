// The C ABI of AF_XDP: translates to the C++ library and back, without decisions of its own.
#include "strata/strata_xdp.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "abi/error.hpp"
#include "abi/options.hpp"
#include "abi/waiting.hpp"
#include "strata/xdp/own_program.hpp"
#include "strata/xdp/port.hpp"

struct strata_xdp_umem {
  std::shared_ptr<strata::xdp::umem> within;
};
struct strata_xdp_socket {
  strata::unique_fd connection;  // to the daemon that created it
  strata::xdp::socket within;
};
struct strata_xdp_program {
  std::shared_ptr<strata::xdp::program> within;
};
struct strata_xdp_route {
  strata::xdp::route within;
};
struct strata_xdp_own_program {
  strata::xdp::own_program within;
};
struct strata_xdp_port {
  strata::xdp::port within;
};

namespace {

namespace xdp = strata::xdp;
using strata::abi::fail;
using strata::abi::fail_missing;
using strata::abi::known;
using strata::abi::limit_of;

static_assert(sizeof(strata_xdp_descriptor) == sizeof(xdp::descriptor));

xdp::umem_options options_of(const strata_xdp_umem_options* given) {
  const auto from = known(given, strata_xdp_umem_defaults);
  return {.frame_count = from.frame_count,
          .frame_size = from.frame_size,
          .headroom = from.headroom,
          .unaligned = from.unaligned != 0,
          .huge_pages = from.huge_pages != 0};
}

xdp::socket_options options_of(const strata_xdp_socket_options* given) {
  const auto from = known(given, strata_xdp_socket_defaults);
  xdp::socket_options options{
      .receive_size = from.receive_size,
      .transmit_size = from.transmit_size,
      .fill_size = from.fill_size,
      .completion_size = from.completion_size,
      .mode = static_cast<xdp::copy_mode>(std::min<std::uint8_t>(from.mode, STRATA_XDP_ZEROCOPY)),
      .need_wakeup = from.need_wakeup != 0,
      .multi_buffer = from.multi_buffer != 0,
      .busy_poll = {},
      .busy_limit = std::chrono::milliseconds(from.busy_limit_ms)};
  if (from.busy_poll_budget != 0) {
    options.busy_poll = {.duration = std::chrono::microseconds(from.busy_poll_us),
                         .budget = static_cast<std::uint16_t>(
                             std::min<std::uint32_t>(from.busy_poll_budget, UINT16_MAX))};
  }
  return options;
}

xdp::filter filter_of(const strata_xdp_filter* filter) {
  const auto from = known(filter, strata_xdp_filter_defaults);
  xdp::filter which;
  const auto number = [](std::int32_t of) { return static_cast<std::uint16_t>(of); };
  if (from.ethertype >= 0) which.ethertype = number(from.ethertype);
  if (from.vlan_id >= 0) which.vlan_id = number(from.vlan_id);
  if (from.udp_port >= 0) which.udp_port = number(from.udp_port);
  if (from.destination != nullptr) {
    which.destination =
        strata::mac_address(std::as_bytes(std::span<const std::uint8_t, 6>(from.destination, 6)));
  }
  return which;
}

xdp::attach_mode mode_of(int mode) {
  if (mode == STRATA_XDP_NATIVE) return xdp::attach_mode::native;
  if (mode == STRATA_XDP_GENERIC) return xdp::attach_mode::generic;
  if (mode == STRATA_XDP_HARDWARE) return xdp::attach_mode::hardware;
  return xdp::attach_mode::automatic;
}

// Returns 0 or 1, or a negative errno.
int answer(const strata::result<bool>& outcome) {
  return outcome ? static_cast<int>(*outcome) : fail(outcome.error());
}

int write(const strata::result<xdp::socket_statistics>& counted,
          strata_xdp_statistics* statistics) {
  if (!counted) return fail(counted.error());
  *statistics = {counted->dropped,         counted->receive_ring_full,
                 counted->fill_ring_empty, counted->transmit_ring_empty,
                 counted->invalid_receive, counted->invalid_transmit};
  return 0;
}

int fail_memory() { return fail(strata::system_error(ENOMEM, "allocate a handle")); }

xdp::port_options port_options_of(const strata_xdp_port_options* options) {
  const strata_xdp_port_options none{sizeof none, STRATA_XDP_AUTOMATIC, nullptr, nullptr, nullptr};
  const auto& from = options == nullptr ? none : *options;
  return {.which = filter_of(from.filter),
          .attach = mode_of(from.attach_mode),
          .memory = options_of(from.memory),
          .socket = options_of(from.socket)};
}

std::string path_of(const char* daemon_socket) {
  return daemon_socket == nullptr ? strata::broker::default_path() : daemon_socket;
}

template <class Handle, class Within>
int hand_over(Within within, Handle** handle) {
  *handle = new (std::nothrow) Handle{std::move(within)};
  return *handle == nullptr ? fail_memory() : 0;
}

template <class Ring, class Entry>
std::uint32_t produce(Ring& ring, const Entry* entries, std::uint32_t count) {
  const auto places = ring.reserve(count);
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    places[i] = std::bit_cast<std::remove_cvref_t<decltype(places[i])>>(entries[i]);
  }
  if (!places.empty()) ring.submit(places.size());
  return places.size();
}

template <class Ring, class Entry>
std::uint32_t consume(Ring& ring, Entry* entries, std::uint32_t count) {
  const auto there = ring.peek(count);
  for (std::uint32_t i = 0; i < there.size(); ++i) {
    entries[i] = std::bit_cast<Entry>(there[i]);
  }
  if (!there.empty()) ring.release(there.size());
  return there.size();
}

}  // namespace

// --- UMEM

void strata_xdp_umem_defaults(strata_xdp_umem_options* options) {
  const xdp::umem_options usual;
  *options = {.size = sizeof *options,
              .frame_count = usual.frame_count,
              .frame_size = usual.frame_size,
              .headroom = usual.headroom,
              .unaligned = 0,
              .huge_pages = 0};
}

int strata_xdp_umem_create(const strata_xdp_umem_options* options, strata_xdp_umem** created) {
  if (created == nullptr) return fail_missing("the output pointer for a UMEM");
  auto made = xdp::umem::create(options_of(options));
  if (!made) return fail(made.error());
  return hand_over(std::move(*made), created);
}

int strata_xdp_umem_create_over(void* memory, size_t size, const strata_xdp_umem_options* options,
                                void (*released)(void* context), void* context,
                                strata_xdp_umem** created) {
  if (memory == nullptr || created == nullptr) return fail_missing("memory for a UMEM");
  // Memory that never became a UMEM is not released: the caller gets the error instead.
  auto is_ours = std::make_shared<bool>(false);
  const std::shared_ptr<void> keeps(memory, [=](void*) {
    if (*is_ours && released != nullptr) released(context);
  });
  auto made =
      xdp::umem::create_over({static_cast<std::byte*>(memory), size}, options_of(options), keeps);
  if (!made) return fail(made.error());
  *is_ours = true;
  return hand_over(std::move(*made), created);
}

void strata_xdp_umem_close(strata_xdp_umem* umem) { delete umem; }

void* strata_xdp_umem_memory(const strata_xdp_umem* umem, size_t* size) {
  const auto bytes = umem->within->memory();
  if (size != nullptr) *size = bytes.size();
  return bytes.data();
}

uint64_t strata_xdp_umem_frame_of(const strata_xdp_umem* umem, uint64_t address) {
  return umem->within->frame_of(address);
}

uint64_t strata_xdp_umem_position(const strata_xdp_umem* umem, uint64_t address) {
  return umem->within->position(address);
}

// --- sockets

void strata_xdp_socket_defaults(strata_xdp_socket_options* options) {
  const xdp::socket_options usual;
  *options = {.size = sizeof *options,
              .receive_size = usual.receive_size,
              .transmit_size = usual.transmit_size,
              .fill_size = usual.fill_size,
              .completion_size = usual.completion_size,
              .mode = STRATA_XDP_AUTOMATIC,
              .need_wakeup = 1,
              .multi_buffer = 0,
              .busy_poll_us = 0,
              .busy_poll_budget = 0,
              .busy_limit_ms = static_cast<std::uint32_t>(usual.busy_limit.count())};
}

int strata_xdp_socket_open(strata_xdp_umem* memory, const char* interface_name, uint32_t queue,
                           const strata_xdp_socket_options* options, strata_xdp_socket** socket) {
  if (memory == nullptr || interface_name == nullptr || socket == nullptr) {
    return fail_missing("a UMEM, an interface or the output pointer for a socket");
  }
  auto made = xdp::socket::create(memory->within, interface_name, queue, options_of(options));
  if (!made) return fail(made.error());
  *socket = new (std::nothrow) strata_xdp_socket{{}, std::move(*made)};
  return *socket == nullptr ? fail_memory() : 0;
}

int strata_xdp_socket_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                          uint32_t queue, const strata_xdp_port_options* options,
                                          strata_xdp_umem** memory, strata_xdp_socket** socket) {
  if (interface_name == nullptr || memory == nullptr || socket == nullptr) {
    return fail_missing("an interface, or the output pointer for a UMEM or a socket");
  }
  const auto given = port_options_of(options);
  auto made = xdp::open_through_daemon({.interface_name = interface_name,
                                        .queue = queue,
                                        .which = given.which,
                                        .attach = given.attach,
                                        .memory = given.memory,
                                        .socket = given.socket},
                                       path_of(daemon_socket));
  if (!made) return fail(made.error());
  auto shared = made->within.memory();
  auto* const held =
      new (std::nothrow) strata_xdp_socket{std::move(made->connection), std::move(made->within)};
  auto* const of = new (std::nothrow) strata_xdp_umem{std::move(shared)};
  if (held == nullptr || of == nullptr) {
    delete held;
    delete of;
    return fail_memory();
  }
  *socket = held;
  *memory = of;
  return 0;
}

void strata_xdp_socket_close(strata_xdp_socket* socket) { delete socket; }

int strata_xdp_socket_fd(const strata_xdp_socket* socket) { return socket->within.fd(); }

int strata_xdp_socket_is_zerocopy(const strata_xdp_socket* socket) {
  return static_cast<int>(socket->within.is_zerocopy());
}

int strata_xdp_socket_is_busy_polled(const strata_xdp_socket* socket) {
  const auto known = socket->within.is_busy_polled();
  if (known) return static_cast<int>(*known);
  return fail(strata::system_error(EAGAIN, "determine whether busy polling has an effect",
                                   "call again after a frame has arrived"));
}

uint32_t strata_xdp_fill(strata_xdp_socket* socket, const uint64_t* addresses, uint32_t count) {
  return produce(socket->within.fill(), addresses, count);
}

uint32_t strata_xdp_complete(strata_xdp_socket* socket, uint64_t* addresses, uint32_t count) {
  return consume(socket->within.completion(), addresses, count);
}

uint32_t strata_xdp_receive(strata_xdp_socket* socket, strata_xdp_descriptor* descriptors,
                            uint32_t count) {
  return consume(socket->within.receive(), descriptors, count);
}

uint32_t strata_xdp_transmit(strata_xdp_socket* socket, const strata_xdp_descriptor* descriptors,
                             uint32_t count) {
  return produce(socket->within.transmit(), descriptors, count);
}

uint32_t strata_xdp_fill_room(strata_xdp_socket* socket, uint32_t most) {
  return socket->within.fill().reserve(most).size();
}

uint32_t strata_xdp_transmit_room(strata_xdp_socket* socket, uint32_t most) {
  return socket->within.transmit().reserve(most).size();
}

int strata_xdp_fill_needs_wakeup(const strata_xdp_socket* socket) {
  return static_cast<int>(socket->within.fill().needs_wakeup());
}

int strata_xdp_transmit_needs_wakeup(const strata_xdp_socket* socket) {
  return static_cast<int>(socket->within.transmit().needs_wakeup());
}

int strata_xdp_wake_transmit(strata_xdp_socket* socket) {
  return answer(socket->within.wake_transmit());
}

int strata_xdp_wake_receive(strata_xdp_socket* socket) {
  const auto woken = socket->within.wake_receive();
  return woken ? 1 : fail(woken.error());
}

int strata_xdp_wait_readable(const strata_xdp_socket* socket, int timeout_ms) {
  return answer(socket->within.wait_readable(limit_of(timeout_ms)));
}

int strata_xdp_wait_writable(const strata_xdp_socket* socket, int timeout_ms) {
  return answer(socket->within.wait_writable(limit_of(timeout_ms)));
}

int strata_xdp_socket_statistics(const strata_xdp_socket* socket, strata_xdp_statistics* counted) {
  return write(socket->within.statistics(), counted);
}

// --- programs

void strata_xdp_filter_defaults(strata_xdp_filter* filter) {
  *filter = {.size = sizeof *filter,
             .ethertype = -1,
             .vlan_id = -1,
             .udp_port = -1,
             .destination = nullptr};
}

int strata_xdp_program_attach(const char* interface_name, int mode, strata_xdp_program** attached) {
  if (interface_name == nullptr || attached == nullptr) return fail_missing("an interface");
  auto made = xdp::program::attach(interface_name, mode_of(mode));
  if (!made) return fail(made.error());
  return hand_over(std::move(*made), attached);
}

void strata_xdp_program_close(strata_xdp_program* program) { delete program; }

int strata_xdp_program_is_native(const strata_xdp_program* program) {
  return static_cast<int>(program->within->is_native());
}

int strata_xdp_route_add(strata_xdp_program* program, const strata_xdp_filter* filter,
                         const strata_xdp_socket* socket, strata_xdp_route** added) {
  if (program == nullptr || socket == nullptr || added == nullptr) {
    return fail_missing("a program, a socket or the output pointer for a route");
  }
  auto made = program->within->add(filter_of(filter), socket->within);
  if (!made) return fail(made.error());
  return hand_over(std::move(*made), added);
}

void strata_xdp_route_close(strata_xdp_route* route) { delete route; }

// --- programs of one's own

int strata_xdp_own_program_attach(const char* interface_name, int program_fd, int mode,
                                  strata_xdp_own_program** attached) {
  if (interface_name == nullptr || attached == nullptr) return fail_missing("an interface");
  auto made = xdp::own_program::attach(interface_name, program_fd, mode_of(mode));
  if (!made) return fail(made.error());
  return hand_over(std::move(*made), attached);
}

void strata_xdp_own_program_close(strata_xdp_own_program* program) { delete program; }

int strata_xdp_own_program_mode(const strata_xdp_own_program* program) {
  const auto mode = program->within.mode();
  if (mode == xdp::attach_mode::native) return STRATA_XDP_NATIVE;
  return mode == xdp::attach_mode::generic ? STRATA_XDP_GENERIC : STRATA_XDP_HARDWARE;
}

int strata_xdp_socket_enter_in_map(const strata_xdp_socket* socket, int map_fd, int64_t key) {
  std::optional<std::uint32_t> at;
  if (key >= 0) at = static_cast<std::uint32_t>(key);
  const auto entered = xdp::enter_in_map(map_fd, socket->within, at);
  return entered ? 0 : fail(entered.error());
}

// --- ports

int strata_xdp_port_open(const char* interface_name, uint32_t queue,
                         const strata_xdp_port_options* options, strata_xdp_port** port) {
  if (interface_name == nullptr || port == nullptr) return fail_missing("an interface");
  auto made = xdp::port::open(interface_name, queue, port_options_of(options));
  if (!made) return fail(made.error());
  return hand_over(std::move(*made), port);
}

int strata_xdp_port_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                        uint32_t queue, const strata_xdp_port_options* options,
                                        strata_xdp_port** port) {
  if (interface_name == nullptr || port == nullptr) return fail_missing("an interface");
  auto made = xdp::port::open_through_daemon(interface_name, queue, port_options_of(options),
                                             path_of(daemon_socket));
  if (!made) return fail(made.error());
  return hand_over(std::move(*made), port);
}

void strata_xdp_port_close(strata_xdp_port* port) { delete port; }

int strata_xdp_port_fd(const strata_xdp_port* port) { return port->within.fd(); }

int strata_xdp_port_is_zerocopy(const strata_xdp_port* port) {
  return static_cast<int>(port->within.below().is_zerocopy());
}

int strata_xdp_port_is_native(const strata_xdp_port* port) {
  if (port->within.receives()) return static_cast<int>(port->within.is_native());
  return fail(strata::system_error(ENOENT, "read the mode of a port that only sends"));
}

int strata_xdp_port_send(strata_xdp_port* port, const struct iovec* frames, size_t count,
                         size_t* sent) {
  std::array<strata::byte_span, 64> some;
  *sent = 0;
  // Runs even without frames, to push those that an earlier call left behind.
  do {
    const auto batch = std::min(count - *sent, some.size());
    for (std::size_t i = 0; i < batch; ++i) {
      const auto& each = frames[*sent + i];
      some[i] = {static_cast<const std::byte*>(each.iov_base), each.iov_len};
    }
    const auto taken = port->within.try_send(std::span(some).first(batch));
    if (!taken) return *sent == 0 ? fail(taken.error()) : 0;
    *sent += *taken;
    if (*taken < batch) return 0;
  } while (*sent < count);
  return 0;
}

int strata_xdp_port_receive(strata_xdp_port* port, struct iovec* frames, size_t count,
                            int timeout_ms, size_t* received) {
  std::array<strata::byte_span, 64> some;
  const auto room = std::span(some).first(std::min(count, some.size()));
  auto got = port->within.try_receive(room);
  if (got && *got == 0 && timeout_ms != 0) {
    const auto ready = port->within.wait_readable(limit_of(timeout_ms));
    if (!ready) return fail(ready.error());
    got = port->within.try_receive(room);
  }
  if (!got) return fail(got.error());
  for (std::size_t i = 0; i < *got; ++i) {
    frames[i] = {const_cast<std::byte*>(some[i].data()), some[i].size()};
  }
  *received = *got;
  return 0;
}

int strata_xdp_port_flush(strata_xdp_port* port, int timeout_ms) {
  const auto done = port->within.flush(limit_of(timeout_ms));
  if (!done) return fail(done.error());
  if (*done) return 0;
  return fail({.code = strata::errc::timed_out,
               .operation = "send all frames of an AF_XDP port",
               .sys_errno = ETIMEDOUT,
               .reason = {},
               .remedy = "use a longer timeout",
               .offset = {}});
}

int strata_xdp_port_statistics(const strata_xdp_port* port, strata_xdp_statistics* counted) {
  return write(port->within.statistics(), counted);
}
