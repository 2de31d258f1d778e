#include "l2/packet_socket.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "strata/wire/ethernet.hpp"

namespace strata::l2 {

namespace {

constexpr std::string_view grant =
    "run it as root, or grant it CAP_NET_RAW: setcap cap_net_raw+ep PROGRAM";

template <class Value>
result<void> set(int fd, int level, int name, const Value& value, std::string operation) {
  if (::setsockopt(fd, level, name, &value, sizeof value) == 0) return {};
  return system_failure(errno, std::move(operation));
}

// Exceeds the limit of net.core if CAP_NET_ADMIN allows it; otherwise the kernel caps the size.
result<void> set_buffer(int fd, int forced, int plain, std::size_t size, std::string operation) {
  const int bytes = static_cast<int>(std::min<std::size_t>(size, INT32_MAX));
  if (::setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof bytes) == 0) return {};
  return set(fd, SOL_SOCKET, plain, bytes, std::move(operation));
}

result<void> set_filter(int fd, const frame_filter& filter) {
  if (filter.takes_all()) return {};
  auto program = filter.program();
  const sock_fprog attached{.len = static_cast<unsigned short>(program.size()),
                            .filter = program.data()};
  return set(fd, SOL_SOCKET, SO_ATTACH_FILTER, attached, "attach the frame filter");
}

result<void> set_timestamps(int fd, const interface& interface, const raw_socket_options& options) {
  const auto received = options.receives ? options.timestamps : timestamping::off;
  const auto sent = options.send_timestamps;
  const auto what = "enable timestamps on " + interface.name;
  int flags = 0;
  if (received != timestamping::off) flags |= SOF_TIMESTAMPING_RX_SOFTWARE;
  // Requests the number of each sent frame, without its bytes.
  if (sent != timestamping::off) {
    flags |= SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
  }
  if (flags == 0) return {};
  flags |= SOF_TIMESTAMPING_SOFTWARE;
  // The kernel's timestamps are requested as well, since the card may be unable to take them. Rings
  // have their own option.
  if (received == timestamping::hardware) {
    flags |= SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE;
    if (auto done = set(fd, SOL_PACKET, PACKET_TIMESTAMP, flags, what); !done) return done;
  }
  if (sent == timestamping::hardware) {
    flags |= SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_TX_HARDWARE;
  }
  return set(fd, SOL_SOCKET, SO_TIMESTAMPING, flags, what);
}

// Sets SO_TXTIME, with reports of dropped frames.
result<void> set_send_times(int fd, const interface& interface, send_clock clock) {
  const sock_txtime wanted{.clockid = clock == send_clock::tai ? CLOCK_TAI : CLOCK_MONOTONIC,
                           .flags = SOF_TXTIME_REPORT_ERRORS};
  auto done = set(fd, SOL_SOCKET, SO_TXTIME, wanted, "enable timed sending on " + interface.name);
  if (done) return done;
  if (done.error().sys_errno == EPERM) {
    done.error().remedy = "run it as root, grant it CAP_NET_ADMIN, or use the monotonic clock";
  } else if (done.error().sys_errno == ENOPROTOOPT) {
    done.error().code = errc::not_supported;
    done.error().remedy = "use Linux 4.19 or newer";
  }
  return done;
}

result<void> set_sending_options(int fd, const interface& interface,
                                 const raw_socket_options& options) {
  if (auto done = set_timestamps(fd, interface, options); !done) return done;
  if (options.send_times) {
    if (auto done = set_send_times(fd, interface, *options.send_times); !done) return done;
  }
  if (options.qdisc_bypass) {
    auto done = set(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "bypass the queueing discipline");
    if (!done) return done;
  }
  if (options.priority) {
    if (*options.priority < 0 || *options.priority > 7) {
      return failure(errc::invalid_argument,
                     "use socket priority " + std::to_string(*options.priority), {}, "use 0 to 7");
    }
    auto done = set(fd, SOL_SOCKET, SO_PRIORITY, *options.priority, "set the socket's priority");
    if (!done) return done;
  }
  if (options.send_buffer) {
    return set_send_buffer(fd, *options.send_buffer);
  }
  return {};
}

// Sets how frames are received, not which.
result<void> set_reception(int fd, const raw_socket_options& options) {
  if (options.busy_poll_us) {
    auto done = set(fd, SOL_SOCKET, SO_BUSY_POLL, *options.busy_poll_us, "set busy polling");
    if (!done) return done;
  }
  if (options.receive_buffer) {
    return set_receive_buffer(fd, *options.receive_buffer);
  }
  return {};
}

// Rejects a filter that no frame can pass.
result<void> check_filter(const frame_filter& filter, const interface& interface) {
  const auto refuse = [&](std::string reason, std::string remedy) {
    return failure(errc::invalid_argument, "filter frames on " + interface.name, std::move(reason),
                   std::move(remedy));
  };
  if (filter.untagged && filter.vlan_id) {
    return refuse("untagged frames have no VLAN id", "filter by one of the two");
  }
  if (filter.vlan_id && *filter.vlan_id > wire::max_vlan_id) {
    return refuse("invalid VLAN id " + std::to_string(*filter.vlan_id), "use 0 to 4094");
  }
  if (!filter.ethertype) return {};
  const auto number = std::to_string(*filter.ethertype);
  if (*filter.ethertype < wire::min_ethertype) {
    return refuse(number + " is a length, not an EtherType", "use 0x0600 to 0xffff");
  }
  if (wire::is_tpid(*filter.ethertype)) {
    return refuse(
        "EtherType " + number + " marks a VLAN tag; a filter tests the EtherType after all tags",
        "filter by vlan_id");
  }
  return {};
}

result<void> set_receiving_options(int fd, const interface& interface,
                                   const raw_socket_options& options) {
  if (auto good = check_filter(options.filter, interface); !good) return good;
  auto filter = options.filter;
  filter.incoming_only = filter.incoming_only || (options.ignore_outgoing && options.share);
  if (auto done = set_filter(fd, filter); !done) return done;
  if (auto done = set(fd, SOL_PACKET, PACKET_AUXDATA, 1, "enable VLAN tags"); !done) return done;
  if (options.ignore_outgoing) {
    auto done = set(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "ignore outgoing frames");
    if (!done) return done;
  }
  return set_reception(fd, options);
}

result<void> share(int fd, const fanout& fanout) {
  constexpr int modes[] = {PACKET_FANOUT_HASH,     PACKET_FANOUT_LB,  PACKET_FANOUT_CPU,
                           PACKET_FANOUT_ROLLOVER, PACKET_FANOUT_RND, PACKET_FANOUT_QM,
                           PACKET_FANOUT_EBPF};
  const unsigned mode = static_cast<unsigned>(modes[static_cast<std::size_t>(fanout.how)]) |
                        (fanout.defragment ? PACKET_FANOUT_FLAG_DEFRAG : 0U) |
                        (fanout.is_new ? PACKET_FANOUT_FLAG_UNIQUEID : 0U);
  if (fanout.is_new && fanout.group != 0) {
    return failure(errc::invalid_argument,
                   "create fanout group " + std::to_string(fanout.group) + " as a new group",
                   "the kernel chooses its number", "use group 0");
  }
  auto joined = set(fd, SOL_PACKET, PACKET_FANOUT, static_cast<int>(mode << 16U | fanout.group),
                    "join fanout group " + std::to_string(fanout.group));
  if (!joined && joined.error().sys_errno == EINVAL) {
    joined.error().remedy =
        "all sockets of a group must have one interface and mode: use those, or another group";
  }
  if (!joined || fanout.how != fanout::mode::program) return joined;
  return set(fd, SOL_PACKET, PACKET_FANOUT_DATA, fanout.program_fd,
             "set program " + std::to_string(fanout.program_fd) + " to distribute frames");
}

result<void> join_groups(int fd, const interface& interface, const raw_socket_options& options) {
  for (const auto& group : options.multicast) {
    if (auto done = set_membership(fd, interface, &group, true); !done) return done;
  }
  return options.share ? share(fd, *options.share) : result<void>{};
}

}  // namespace

result<void> replace_filter(int fd, const interface& interface, const frame_filter& filter) {
  if (auto good = check_filter(filter, interface); !good) return good;
  if (!filter.takes_all()) return set_filter(fd, filter);
  const int none = 0;
  auto done = set(fd, SOL_SOCKET, SO_DETACH_FILTER, none, "remove the frame filter");
  // The socket had no filter.
  if (!done && done.error().sys_errno == ENOENT) return {};
  return done;
}

result<void> set_membership(int fd, const interface& interface, const mac_address* group,
                            bool is_member) {
  packet_mreq membership{};
  membership.mr_ifindex = interface.index;
  membership.mr_type = group != nullptr ? PACKET_MR_MULTICAST : PACKET_MR_PROMISC;
  if (group != nullptr) {
    membership.mr_alen = mac_address::size;
    std::ranges::copy(group->octets(), membership.mr_address);
  }
  const std::string verb = is_member ? "join group " : "leave group ";
  auto what = group != nullptr
                  ? verb + group->text() + " on " + interface.name
                  : "make " + interface.name + (is_member ? "" : " no longer") + " promiscuous";
  return set(fd, SOL_PACKET, is_member ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP, membership,
             std::move(what));
}

result<void> set_receive_buffer(int fd, std::size_t bytes) {
  return set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, bytes, "set the receive buffer");
}

result<void> set_send_buffer(int fd, std::size_t bytes) {
  return set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, bytes, "set the send buffer");
}

sockaddr_ll address_of(const interface& interface, std::uint16_t protocol) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol);
  address.sll_ifindex = interface.index;
  return address;
}

result<unique_fd> open_packet_socket(const interface& interface,
                                     const raw_socket_options& options) {
  // The protocol is 0 until the socket is bound. A socket that is opened for all protocols first
  // receives from every interface, and undoing that waits for all processors: 16 ms instead of 34
  // us.
  unique_fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd) {
    const int code = errno;
    return system_failure(code, "open a raw socket on " + interface.name,
                          code == EPERM ? std::string(grant) : "");
  }
  if (auto done = set_sending_options(fd.get(), interface, options); !done) {
    return std::unexpected(done.error());
  }
  if (options.receives) {
    if (auto done = set_receiving_options(fd.get(), interface, options); !done) {
      return std::unexpected(done.error());
    }
  }
  return fd;
}

result<void> bind_packet_socket(int fd, const interface& interface,
                                const raw_socket_options& options) {
  // Binds to all protocols, since the kernel removes VLAN tags before it looks for one protocol's
  // sockets; the filter selects the frames.
  const auto address = address_of(interface, options.receives ? ETH_P_ALL : 0);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::unexpected(packet_error(errno, "bind a raw socket to", interface));
  }
  if (!options.receives) return {};
  if (options.promiscuous) {
    if (auto done = set_membership(fd, interface, nullptr, true); !done) return done;
  }
  return join_groups(fd, interface, options);
}

result<void> set_adopted_options(int fd, const interface& interface,
                                 const raw_socket_options& options) {
  if (auto done = set_sending_options(fd, interface, options); !done) return done;
  if (!options.receives) return {};
  if (auto done = set_reception(fd, options); !done) return done;
  return join_groups(fd, interface, options);
}

result<void> confine(int fd, const raw_socket_options& options) {
  if (!options.receives) {
    sock_filter nothing{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
    const sock_fprog program{.len = 1, .filter = &nothing};
    auto done = set(fd, SOL_SOCKET, SO_ATTACH_FILTER, program, "stop a socket from receiving");
    if (!done) return done;
  }
  return set(fd, SOL_SOCKET, SO_LOCK_FILTER, 1, "lock a socket's filter");
}

result<void> seclude(int fd, const interface& interface, const raw_socket_options& options) {
  if (!options.receives) {
    // A fanout group is for sockets that receive. Only with this protocol does the kernel leave out
    // the frames that it sends.
    const auto address = address_of(interface, ETH_P_ALL);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      return std::unexpected(packet_error(errno, "bind a raw socket to", interface));
    }
  }
  constexpr int ignore_outgoing = 0x4000;  // newer than Debian 12's headers, and optional
  const int mode = PACKET_FANOUT_CPU | PACKET_FANOUT_FLAG_UNIQUEID |
                   (options.receives && !options.ignore_outgoing ? 0 : ignore_outgoing);
  return set(fd, SOL_PACKET, PACKET_FANOUT, mode << 16, "put a socket in its own fanout group");
}

result<void> check_ring_socket(const raw_socket_options& options) {
  if (options.send_timestamps == timestamping::off && !options.send_times) return {};
  return failure(errc::invalid_argument, "create a ring with send timestamps or send times", {},
                 "use raw_socket, which supports them");
}

result<void> check_ring_memory(std::size_t count, std::size_t size, const std::string& text) {
  const auto machine = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto most = std::min(most_ring_memory, machine / 2);
  if (size != 0 && count <= most / size) return {};
  return failure(
      errc::limit_exceeded, "create " + text,
      "the memory of a socket's rings is at most " + std::to_string(most >> 20U) + " MiB here",
      "use less memory");
}

error packet_error(int sys_errno, std::string_view text, const interface& interface) {
  std::string remedy;
  switch (sys_errno) {
    case EPERM: remedy = grant; break;
    case EMSGSIZE:
      remedy = "the MTU was " + std::to_string(interface.mtu) +
               ": send smaller frames or raise it (ip link set " + interface.name + " mtu N)";
      break;
    case EINVAL:
      if (text.starts_with("send"))
        remedy = "start the frame with both addresses and the EtherType, 14 bytes";
      break;
    case ENETDOWN: remedy = "bring it up: ip link set " + interface.name + " up"; break;
    case ENXIO:
    case ENODEV:
      if (interface.index == 0) {
        remedy = "name the interface to send through: this socket is open on all";
        break;
      }
      sys_errno = ENODEV;
      remedy = "the interface was removed: create it again and open a new socket";
      break;
    default: break;
  }
  return system_error(sys_errno, std::string(text) + " " + interface.name, std::move(remedy));
}

error packet_error(int fd, int sys_errno, std::string_view text, interface interface) {
  ifreq request{};
  request.ifr_ifindex = interface.index;
  // Queried through the socket, which may be in another network namespace than this thread.
  if (::ioctl(fd, SIOCGIFNAME, &request) == 0) interface.name = request.ifr_name;
  return packet_error(sys_errno, text, interface);
}

result<void> add_statistics(int fd, bool is_v3, const interface& interface,
                            device_statistics& statistics) {
  tpacket_stats_v3 counted{};
  socklen_t size = is_v3 ? sizeof(tpacket_stats_v3) : sizeof(tpacket_stats);
  if (::getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &counted, &size) != 0) {
    return std::unexpected(packet_error(errno, "read the frame counters of", interface));
  }
  // The kernel counts a dropped frame as a packet too.
  statistics.received += counted.tp_packets - counted.tp_drops;
  statistics.dropped += counted.tp_drops;
  return {};
}

std::optional<error> take_socket_error(int fd, const interface& interface, bool& down) {
  int code = 0;
  socklen_t size = sizeof code;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size);
  if (code == 0 && !(down && is_removed(fd))) return std::nullopt;
  down = down || code == ENETDOWN;
  return packet_error(fd, code == 0 ? ENODEV : code, "receive on", interface);
}

bool is_removed(int fd) {
  sockaddr_ll address{};
  socklen_t size = sizeof address;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         address.sll_ifindex < 0;
}

void restore_tag(received_frame& frame, std::byte* first, const wire::vlan_tag& tag) {
  const mutable_byte_span whole(first - wire::vlan_tag_size,
                                frame.bytes.size() + wire::vlan_tag_size);
  // Fails only if the frame has no whole header.
  if (!wire::insert_tag(whole, tag)) return;
  frame.bytes = whole;
  frame.wire_size += wire::vlan_tag_size;
}

void copy_into(frame_slot& slot, const received_frame& frame) {
  const auto size = std::min(frame.bytes.size(), slot.memory.size());
  if (size != 0) std::memcpy(slot.memory.data(), frame.bytes.data(), size);
  slot.frame = frame;
  slot.frame.bytes = slot.memory.first(size);
}

packet_type packet_type_of(unsigned char sll_pkttype) {
  switch (sll_pkttype) {
    case PACKET_BROADCAST: return packet_type::broadcast;
    case PACKET_MULTICAST: return packet_type::multicast;
    case PACKET_OTHERHOST: return packet_type::other_host;
    case PACKET_OUTGOING: return packet_type::outgoing;
    default: return packet_type::host;
  }
}

}  // namespace strata::l2
