#include "strata/xdp/broker.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "xdp/broker_message.hpp"

namespace strata::xdp {

namespace {

// The most memory that one client may have the daemon lock.
constexpr std::size_t most_memory = std::size_t{64} << 20U;
constexpr std::uint32_t most_entries = 65536;

/// Creates memory whose size cannot be changed: its receiver must not be able to remove pages.
result<unique_fd> make_memory(std::size_t size) {
  unique_fd made(::memfd_create("strata-umem", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made || ::ftruncate(made.get(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(made.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_failure(errno, "create shared memory of " + std::to_string(size) + " bytes");
  }
  return made;
}

}  // namespace

result<brokered_socket> open_through_daemon(const broker_request& request,
                                            const std::string& path) {
  if (request.memory.huge_pages) {
    return failure(errc::not_supported, "get an AF_XDP socket from the daemon",
                   "the daemon does not provide huge pages", "use normal pages");
  }
  grant_message given;
  auto got = broker::ask(path, broker::kind::xdp, broker::bytes_of(to_message(request)),
                         std::as_writable_bytes(std::span(&given, 1)));
  if (!got) return std::unexpected(got.error());
  auto memory = umem::create_in(got->descriptors[1].get(), request.memory);
  if (!memory) return std::unexpected(memory.error());
  auto made = socket::adopt(std::move(*memory), std::move(got->descriptors[0]),
                            {.interface_index = given.interface_index,
                             .queue = request.queue,
                             .is_zerocopy = given.is_zerocopy != 0,
                             .interface_name = request.interface_name},
                            request.socket);
  if (!made && made.error().sys_errno == EBUSY) {
    return failure(errc::not_supported, "use an AF_XDP socket from the daemon",
                   "this kernel cannot map the rings of a bound socket",
                   "use Linux 6.4 or newer; the daemon does not pass an unbound socket, which "
                   "would give access to every queue");
  }
  if (!made) return std::unexpected(made.error());
  return brokered_socket{.within = std::move(*made),
                         .is_native = given.is_native != 0,
                         .connection = std::move(got->connection)};
}

result<grant> grant_request(int connection, const broker_request& request) {
  const auto& rings = request.socket;
  if (const auto largest = std::max(
          {rings.receive_size, rings.transmit_size, rings.fill_size, rings.completion_size});
      largest > most_entries) {
    return failure(errc::limit_exceeded, "create a ring of " + std::to_string(largest) + " entries",
                   "the daemon allows at most 65536", "request smaller rings");
  }
  const auto size = umem::size_of(request.memory);
  if (size > most_memory) {
    return failure(errc::limit_exceeded, "create a UMEM of " + std::to_string(size) + " bytes",
                   "the daemon allows at most 64 MiB", "request fewer frames");
  }
  const auto memory = make_memory(size);
  if (!memory) return std::unexpected(memory.error());
  auto shared = umem::create_in(memory->get(), request.memory);
  if (!shared) return std::unexpected(shared.error());
  auto made =
      socket::create(std::move(*shared), request.interface_name, request.queue, request.socket);
  if (!made) return std::unexpected(made.error());
  grant given{.made = std::move(*made), .brings = {}};
  if (request.socket.receive_size != 0) {
    const auto attached = program::attach(request.interface_name, request.attach);
    if (!attached) return std::unexpected(attached.error());
    auto added = (*attached)->add(request.which, given.made);
    if (!added) return std::unexpected(added.error());
    given.brings = std::move(*added);
  }
  const grant_message message{
      .interface_index = given.made.interface_index(),
      .is_zerocopy = static_cast<std::uint8_t>(given.made.is_zerocopy()),
      .is_native = static_cast<std::uint8_t>(given.brings && given.brings->of()->is_native())};
  const std::array<int, 2> descriptors = {given.made.fd(), memory->get()};
  if (auto sent = broker::hand_over(connection, broker::bytes_of(message), descriptors); !sent) {
    return std::unexpected(sent.error());
  }
  return given;
}

}  // namespace strata::xdp
