// The functions of raw_socket for frames sent at a given time, and the kernel's reports on them.
// clang-format off
#include <ctime>  // errqueue.h needs it, but does not include it
// clang-format on
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "l2/packet_socket.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::l2 {

namespace {

std::uint64_t in_nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

template <class Value>
Value value_in(const cmsghdr& cmsghdr) {
  Value made{};
  std::memcpy(&made, CMSG_DATA(&cmsghdr), sizeof made);
  return made;
}

// Reads the metadata in the error queue; the frame's bytes are not needed.
std::optional<sent_frame> read_report(msghdr& header) {
  std::optional<sent_frame> found;
  std::uint64_t kernel_ns = 0;
  std::uint64_t card_ns = 0;
  for (auto* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SO_TIMESTAMPING) {
      const auto times = value_in<scm_timestamping>(*each);
      kernel_ns = in_nanoseconds(times.ts[0]);
      card_ns = in_nanoseconds(times.ts[2]);
    } else if (each->cmsg_level == SOL_PACKET && each->cmsg_type == PACKET_TX_TIMESTAMP) {
      const auto said = value_in<sock_extended_err>(*each);
      if (said.ee_origin == SO_EE_ORIGIN_TIMESTAMPING && said.ee_info == SCM_TSTAMP_SND) {
        found = sent_frame{.number = said.ee_data};
      } else if (said.ee_origin == SO_EE_ORIGIN_TXTIME) {
        found =
            sent_frame{.what = said.ee_code == SO_EE_CODE_TXTIME_MISSED ? sent_frame::fate::missed
                                                                        : sent_frame::fate::refused,
                       .time_ns = std::uint64_t{said.ee_data} << 32U | said.ee_info};
      }
    }
  }
  if (found && found->what == sent_frame::fate::sent) {
    found->is_card_time = card_ns != 0;
    found->time_ns = card_ns != 0 ? card_ns : kernel_ns;
  }
  return found;
}

}  // namespace

result<void> raw_socket::send_at(byte_span frame, std::uint64_t time_ns) {
  const auto what = "send a frame of " + std::to_string(frame.size()) + " bytes at a set time on";
  if (!sends_by_time_) {
    return failure(errc::invalid_argument, what + " " + link_.name,
                   "the socket was opened without a clock for timed sending",
                   "set raw_socket_options::send_times");
  }
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof time_ns)> control{};
  iovec vector{const_cast<std::byte*>(frame.data()), frame.size()};
  msghdr header{};
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  auto* const beside = CMSG_FIRSTHDR(&header);
  beside->cmsg_level = SOL_SOCKET;
  beside->cmsg_type = SCM_TXTIME;
  beside->cmsg_len = CMSG_LEN(sizeof time_ns);
  std::memcpy(CMSG_DATA(beside), &time_ns, sizeof time_ns);
  while (::sendmsg(fd_.get(), &header, MSG_DONTWAIT) < 0) {
    const int code = errno;
    if (code == EINTR) continue;
    auto refused = packet_error(fd_.get(), code, what, link_);
    if (code == ENOBUFS) {
      refused.code = errc::conflict;
      refused.reason = "the queueing discipline rejected it";
      refused.remedy =
          "use a future time on the discipline's clock, and stay within its limit of frames; "
          "`strata l2 qdisc " +
          link_.name + "` shows the clock";
    }
    return std::unexpected(std::move(refused));
  }
  return {};
}

result<std::optional<sent_frame>> raw_socket::try_sent() {
  // Room for the times, the error, and the address behind it.
  alignas(cmsghdr) std::array<std::byte, 512> control;
  for (;;) {
    msghdr header{};
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    if (::recvmsg(fd_.get(), &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return std::nullopt;
      return std::unexpected(packet_error(fd_.get(), errno, "read the send results of", link_));
    }
    if (auto found = read_report(header)) return found;
  }
}

}  // namespace strata::l2
