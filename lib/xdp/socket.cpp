#include "strata/xdp/socket.hpp"

#include <linux/if_xdp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <bit>
#include <cerrno>
#include <thread>

#include "xdp/attachment.hpp"
#include "xdp/queue_rings.hpp"

namespace strata::xdp {

namespace {

using namespace std::chrono_literals;

// Newer than Debian 12's headers.
constexpr std::uint16_t use_multi_buffer = 1U << 4U;  // XDP_USE_SG
constexpr auto busy_pause = 2ms;

template <class Value>
int set_option(int fd, int level, int name, const Value& value) {
  return ::setsockopt(fd, level, name, &value, sizeof value);
}

std::string queue_text(std::string_view interface_name, std::uint32_t queue) {
  return "queue " + std::to_string(queue) + " of '" + std::string(interface_name) + "'";
}

result<void> check(const socket_options& options, const std::string& place) {
  const auto fits = [](std::uint32_t size) { return size == 0 || std::has_single_bit(size); };
  const bool has_all = options.fill_size != 0 && options.completion_size != 0 &&
                       (options.receive_size != 0 || options.transmit_size != 0);
  if (has_all && fits(options.receive_size) && fits(options.transmit_size) &&
      fits(options.fill_size) && fits(options.completion_size)) {
    return {};
  }
  return failure(errc::invalid_argument, "open AF_XDP on " + place,
                 "its rings have " + std::to_string(options.receive_size) + " (receive), " +
                     std::to_string(options.transmit_size) + " (transmit), " +
                     std::to_string(options.fill_size) + " (fill) and " +
                     std::to_string(options.completion_size) + " (completion) entries",
                 "use powers of two; only receive or transmit may be 0");
}

result<void> set_busy_poll(int fd, const busy_poll_options& options) {
  if (options.duration.count() <= 0 || options.duration.count() > INT32_MAX) {
    return failure(
        errc::invalid_argument,
        "busy poll an AF_XDP socket for " + std::to_string(options.duration.count()) + " us", {},
        "use 1 to 2147483647");
  }
  const int prefer = 1;
  const int duration_us = static_cast<int>(options.duration.count());
  const int budget = options.budget;
  if (set_option(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, prefer) != 0 ||
      set_option(fd, SOL_SOCKET, SO_BUSY_POLL, duration_us) != 0 ||
      set_option(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, budget) != 0) {
    return system_failure(errno, "busy poll an AF_XDP socket for " + std::to_string(duration_us) +
                                     " us with a budget of " + std::to_string(budget));
  }
  return {};
}

ring_memory ring_in(const mapping& memory, const xdp_ring_offset& offsets, std::uint32_t size) {
  auto* const base = memory.bytes().data();
  const auto word = [base](std::uint64_t offset) {
    return reinterpret_cast<std::uint32_t*>(base + offset);
  };
  return {.producer = word(offsets.producer),
          .consumer = word(offsets.consumer),
          .flags = word(offsets.flags),
          .entries = base + offsets.desc,
          .size = size};
}

template <class Ring, class Entry>
result<void> map_ring(int fd, const xdp_ring_offset& offsets, std::uint64_t page_offset,
                      std::uint32_t size, mapping& memory, Ring& ring) {
  auto mapped = mapping::of(fd, offsets.desc + std::size_t{size} * sizeof(Entry), "an AF_XDP ring",
                            page_offset);
  if (!mapped) return std::unexpected(mapped.error());
  memory = std::move(*mapped);
  ring = Ring(ring_in(memory, offsets, size));
  return {};
}

result<bool> wait_for(int fd, short events, std::optional<std::chrono::milliseconds> timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout.value_or(0ms);
  for (;;) {
    int left = -1;
    if (timeout) {
      left = static_cast<int>(
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())
              .count());
    }
    pollfd asked{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&asked, 1, timeout ? std::max(left, 0) : -1);
    if (ready >= 0) return (asked.revents & events) != 0;
    if (errno != EINTR) return system_failure(errno, "wait for an AF_XDP socket");
  }
}

error bind_error(int code, const socket_options& options, const std::string& place,
                 bool shares_memory) {
  const auto what = "bind an AF_XDP socket to " + place;
  const auto with = [&](errc kind, std::string remedy) {
    auto made = system_error(code, what, std::move(remedy));
    made.code = kind;
    return made;
  };
  switch (code) {
    case EBUSY: return with(errc::conflict, "another socket uses this queue; close it first");
    case EOPNOTSUPP:
      if (shares_memory) {
        return with(errc::not_supported,
                    "the UMEM's first socket is zero-copy, which this driver does not support; "
                    "use a separate UMEM, or open the first socket in copy mode");
      }
      return with(errc::not_supported, options.mode == copy_mode::zerocopy
                                           ? "this driver does not support zero-copy; use copy mode"
                                           : "");
    case EINVAL:
      if (options.mode == copy_mode::zerocopy) {
        return with(
            errc::invalid_argument,
            "check that the queue exists and the driver may map memory for the device (virtio-net "
            "may with QEMU's iommu_platform=on); otherwise use copy mode");
      }
      return with(errc::invalid_argument,
                  options.multi_buffer
                      ? "check that the queue exists and the kernel is 6.6 or newer, as "
                        "multi-buffer needs"
                      : "check that the queue exists; `ethtool -l` shows how many");
    default: return system_error(code, what);
  }
}

error link_error(int code, const char* text, const std::string& name) {
  std::string remedy;
  if (code == ENETDOWN) remedy = "bring it up: ip link set " + name + " up";
  if (code == ENXIO || code == ENODEV) {
    code = ENODEV;
    remedy = "the interface was removed, or moved to another network namespace: open a new socket";
  }
  return system_error(code, std::string(text) + " on '" + name + "'", std::move(remedy));
}

result<bool> wake(ssize_t outcome, const char* text, const std::string& name) {
  if (outcome >= 0) return true;
  // The driver is busy, or has sent a part: the next call continues.
  if (errno == EAGAIN || errno == EBUSY || errno == ENOBUFS || errno == EINTR) return false;
  return std::unexpected(link_error(errno, text, name));
}

}  // namespace

result<socket> socket::create(std::shared_ptr<umem> memory, std::string_view interface_name,
                              std::uint32_t queue, const socket_options& options) {
  const auto where = queue_text(interface_name, queue);
  if (auto fine = check(options, where); !fine) return std::unexpected(fine.error());
  const std::string name(interface_name);
  const auto index = index_of(name, "open AF_XDP on '" + name + "'");
  if (!index) return std::unexpected(index.error());
  unique_fd fd(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd) {
    return system_failure(
        errno, "open AF_XDP on " + where,
        errno == EPERM ? "run it with CAP_NET_RAW, or use the daemon's broker" : "");
  }
  socket made(std::move(memory), std::move(fd));
  auto& users = made.memory_->users_;
  for (const auto& each : users) {
    auto shared = each.rings.lock();
    if (shared && shared->interface_index == *index && shared->queue == queue) {
      made.rings_ = std::move(shared);
    }
  }
  const bool owns_queue = made.rings_ == nullptr;
  if (owns_queue) made.rings_ = std::make_shared<umem::queue_rings>(*index, queue, name);
  const int shared_fd = users.empty() ? -1 : users.front().fd;
  if (shared_fd < 0) {
    if (auto done = made.register_memory(); !done) return std::unexpected(done.error());
  }
  if (auto done = made.make_rings(options, owns_queue); !done) return std::unexpected(done.error());
  if (auto done = made.bind(options, where, shared_fd); !done) return std::unexpected(done.error());
  users.push_back({made.rings_, made.fd()});
  return made;
}

result<socket> socket::adopt(std::shared_ptr<umem> memory, unique_fd fd, const binding& binding,
                             const socket_options& options) {
  socket made(std::move(memory), std::move(fd));
  made.rings_ = std::make_shared<umem::queue_rings>(binding.interface_index, binding.queue,
                                                    binding.interface_name);
  made.is_zerocopy_ = binding.is_zerocopy;
  if (auto mapped = made.map_rings(options, true); !mapped) return std::unexpected(mapped.error());
  made.memory_->users_.push_back({made.rings_, made.fd()});
  return made;
}

socket::socket(socket&&) noexcept = default;

socket& socket::operator=(socket&& other) noexcept {
  if (this == &other) return *this;
  leave();
  memory_ = std::move(other.memory_);
  fd_ = std::move(other.fd_);
  rings_ = std::move(other.rings_);
  receive_memory_ = std::move(other.receive_memory_);
  transmit_memory_ = std::move(other.transmit_memory_);
  receive_ = other.receive_;
  transmit_ = other.transmit_;
  is_zerocopy_ = other.is_zerocopy_;
  return *this;
}

socket::~socket() { leave(); }

void socket::leave() {
  if (memory_) std::erase_if(memory_->users_, [this](const auto& one) { return one.fd == fd(); });
}

fill_ring& socket::fill() { return rings_->fill; }
const fill_ring& socket::fill() const { return rings_->fill; }
completion_ring& socket::completion() { return rings_->completion; }
int socket::interface_index() const { return rings_->interface_index; }
std::uint32_t socket::queue() const { return rings_->queue; }

result<void> socket::register_memory() {
  const auto& options = memory_->options();
  const auto bytes = memory_->memory();
  xdp_umem_reg what{};
  what.addr = reinterpret_cast<std::uint64_t>(bytes.data());
  what.len = bytes.size();
  what.chunk_size = options.frame_size;
  what.headroom = options.headroom;
  what.flags = options.unaligned ? XDP_UMEM_UNALIGNED_CHUNK_FLAG : 0;
  if (set_option(fd(), SOL_XDP, XDP_UMEM_REG, what) == 0) return {};
  const int code = errno;
  const auto text = "register a UMEM of " + std::to_string(bytes.size()) + " bytes";
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  if (code == ENOBUFS || code == ENOMEM || code == EPERM) {
    auto failed = system_error(code, text,
                               "a process may lock " + std::to_string(limit.rlim_cur) +
                                   " bytes: raise this limit (`ulimit -l`), use fewer frames, or "
                                   "run it with CAP_IPC_LOCK");
    failed.code = errc::limit_exceeded;
    return std::unexpected(std::move(failed));
  }
  if (code == EFAULT) {
    return system_failure(code, text,
                          "the memory must be writable, and not shared with a file on a disk: "
                          "use anonymous memory, or a file on tmpfs or hugetlbfs");
  }
  return system_failure(code, text);
}

result<void> socket::make_rings(const socket_options& options, bool owns_queue) {
  const auto make = [this](int name, std::uint32_t size, const char* text) -> result<void> {
    if (size == 0 || set_option(fd(), SOL_XDP, name, size) == 0) return {};
    return system_failure(
        errno, "create a " + std::string(text) + " ring of " + std::to_string(size) + " entries");
  };
  auto made = make(XDP_RX_RING, options.receive_size, "receive");
  if (made) made = make(XDP_TX_RING, options.transmit_size, "transmit");
  if (made && owns_queue) made = make(XDP_UMEM_FILL_RING, options.fill_size, "fill");
  if (made && owns_queue) {
    made = make(XDP_UMEM_COMPLETION_RING, options.completion_size, "completion");
  }
  if (!made) return made;
  return map_rings(options, owns_queue);
}

result<void> socket::map_rings(const socket_options& options, bool owns_queue) {
  xdp_mmap_offsets offsets{};
  socklen_t size = sizeof offsets;
  if (::getsockopt(fd(), SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &size) != 0) {
    return system_failure(errno, "query the ring offsets of an AF_XDP socket");
  }
  result<void> mapped;
  if (options.receive_size != 0) {
    mapped = map_ring<receive_ring, descriptor>(fd(), offsets.rx, XDP_PGOFF_RX_RING,
                                                options.receive_size, receive_memory_, receive_);
  }
  if (mapped && options.transmit_size != 0) {
    mapped = map_ring<transmit_ring, descriptor>(
        fd(), offsets.tx, XDP_PGOFF_TX_RING, options.transmit_size, transmit_memory_, transmit_);
  }
  if (mapped && owns_queue) {
    mapped =
        map_ring<fill_ring, std::uint64_t>(fd(), offsets.fr, XDP_UMEM_PGOFF_FILL_RING,
                                           options.fill_size, rings_->fill_memory, rings_->fill);
  }
  if (mapped && owns_queue) {
    mapped = map_ring<completion_ring, std::uint64_t>(
        fd(), offsets.cr, XDP_UMEM_PGOFF_COMPLETION_RING, options.completion_size,
        rings_->completion_memory, rings_->completion);
  }
  return mapped;
}

result<void> socket::bind(const socket_options& options, const std::string& place, int shared_fd) {
  if (options.busy_poll) {
    if (auto done = set_busy_poll(fd(), *options.busy_poll); !done) return done;
  }
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = static_cast<std::uint32_t>(rings_->interface_index);
  address.sxdp_queue_id = rings_->queue;
  if (shared_fd >= 0) {
    // A sharing socket has the first socket's mode.
    address.sxdp_flags = XDP_SHARED_UMEM;
    address.sxdp_shared_umem_fd = static_cast<std::uint32_t>(shared_fd);
  } else {
    if (options.mode == copy_mode::copy) address.sxdp_flags |= XDP_COPY;
    if (options.mode == copy_mode::zerocopy) address.sxdp_flags |= XDP_ZEROCOPY;
    if (options.need_wakeup) address.sxdp_flags |= XDP_USE_NEED_WAKEUP;
    if (options.multi_buffer) address.sxdp_flags |= use_multi_buffer;
  }
  const auto until = std::chrono::steady_clock::now() + options.busy_limit;
  while (::bind(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int code = errno;
    if (code == EBUSY && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(busy_pause);
      continue;
    }
    return std::unexpected(bind_error(code, options, place, shared_fd >= 0));
  }
  xdp_options chosen{};
  socklen_t size = sizeof chosen;
  if (::getsockopt(fd(), SOL_XDP, XDP_OPTIONS, &chosen, &size) == 0) {
    is_zerocopy_ = (chosen.flags & XDP_OPTIONS_ZEROCOPY) != 0;
  }
  return {};
}

result<bool> socket::wake_transmit() const {
  return wake(::sendto(fd(), nullptr, 0, MSG_DONTWAIT, nullptr, 0), "send over AF_XDP",
              rings_->interface_name);
}

result<void> socket::wake_receive() const {
  auto woken = wake(::recvfrom(fd(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr),
                    "receive over AF_XDP", rings_->interface_name);
  if (!woken) return std::unexpected(woken.error());
  return {};
}

result<bool> socket::wait_readable(std::optional<std::chrono::milliseconds> timeout) const {
  return wait_for(fd(), POLLIN, timeout);
}

result<bool> socket::wait_writable(std::optional<std::chrono::milliseconds> timeout) const {
  return wait_for(fd(), POLLOUT, timeout);
}

result<socket_statistics> socket::statistics() const {
  xdp_statistics counted{};
  socklen_t size = sizeof counted;
  if (::getsockopt(fd(), SOL_XDP, XDP_STATISTICS, &counted, &size) != 0) {
    return system_failure(errno, "read the statistics of an AF_XDP socket");
  }
  return socket_statistics{.dropped = counted.rx_dropped + counted.rx_ring_full,
                           .receive_ring_full = counted.rx_ring_full,
                           .fill_ring_empty = counted.rx_fill_ring_empty_descs,
                           .transmit_ring_empty = counted.tx_ring_empty_descs,
                           .invalid_receive = counted.rx_invalid_descs,
                           .invalid_transmit = counted.tx_invalid_descs};
}

std::optional<bool> socket::is_busy_polled() const {
  int preferred = 0;
  socklen_t size = sizeof preferred;
  if (::getsockopt(fd(), SOL_SOCKET, SO_PREFER_BUSY_POLL, &preferred, &size) != 0 ||
      preferred == 0) {
    return false;
  }
  unsigned poller = 0;
  size = sizeof poller;
  if (::getsockopt(fd(), SOL_SOCKET, SO_INCOMING_NAPI_ID, &poller, &size) != 0) return false;
  if (poller == 0 && receive_.total() == 0) return std::nullopt;
  return poller != 0;
}

}  // namespace strata::xdp
