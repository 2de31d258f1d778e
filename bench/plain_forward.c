// The plain C contender of bench/l2_endpoints.py: takes frames of EtherType 0x88b5 and sends their
// payload on, by bare system calls.
//
//   strata-plain-forward WAY IN OUT DST
//
// WAY  simple: recvfrom and sendto, one frame a call      batch: recvmmsg and sendmmsg, 64 a call
//      xdp: AF_XDP by libxdp, each frame sent from where it was received; IN and OUT are the same
// DST  the MAC address to send to; - is whoever sent the frame
//
// It says "ready" once its sockets are open, and runs until it is interrupted.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <xdp/xsk.h>

enum { ethertype = 0x88B5, batch = 64, largest = 2048, ring_size = 2048, frame_count = 4096 };

static unsigned char source[ETH_ALEN];
static unsigned char destination[ETH_ALEN];
static bool answers;

static void give_up(const char* what) {
  fprintf(stderr, "strata-plain-forward: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int open_packet(const char* interface) {
  const int fd = socket(AF_PACKET, SOCK_RAW, 0);
  if (fd < 0) give_up("socket");
  // A socket hears what its interface itself sends, too, unless it asks not to.
  const int one = 1;
  if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) != 0) {
    give_up("PACKET_IGNORE_OUTGOING");
  }
  const struct sockaddr_ll where = {.sll_family = AF_PACKET,
                                    .sll_protocol = htons(ethertype),
                                    .sll_ifindex = (int)if_nametoindex(interface)};
  if (bind(fd, (const struct sockaddr*)&where, sizeof where) != 0) give_up("bind");
  return fd;
}

static void learn_source(const char* interface) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct ifreq asked = {0};
  strncpy(asked.ifr_name, interface, sizeof asked.ifr_name - 1);
  if (ioctl(fd, SIOCGIFHWADDR, &asked) != 0) give_up("SIOCGIFHWADDR");
  memcpy(source, asked.ifr_hwaddr.sa_data, ETH_ALEN);
}

static void readdress(unsigned char* frame) {
  memcpy(frame, answers ? frame + ETH_ALEN : destination, ETH_ALEN);
  memcpy(frame + ETH_ALEN, source, ETH_ALEN);
}

static void forward_each(int in, int out) {
  unsigned char frame[largest];
  for (;;) {
    const ssize_t size = recv(in, frame, sizeof frame, 0);
    if (size < ETH_HLEN) continue;
    readdress(frame);
    // What there is no room for is lost, as on a wire.
    (void)!send(out, frame, (size_t)size, 0);
  }
}

static void forward_batches(int in, int out) {
  static unsigned char frames[batch][largest];
  struct iovec parts[batch];
  struct mmsghdr messages[batch] = {0};
  for (;;) {
    for (int i = 0; i < batch; ++i) {
      parts[i] = (struct iovec){frames[i], largest};
      messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    const int count = recvmmsg(in, messages, batch, MSG_WAITFORONE, NULL);
    for (int i = 0; i < count; ++i) {
      readdress(frames[i]);
      parts[i].iov_len = messages[i].msg_len;
    }
    for (int at = 0; at < count;) {
      const int sent = sendmmsg(out, messages + at, (unsigned)(count - at), 0);
      at += sent > 0 ? sent : 1;
    }
  }
}

static void forward_by_xdp(const char* interface) {
  static struct xsk_ring_prod fill, transmit;
  static struct xsk_ring_cons receive, completion;
  const size_t size = (size_t)frame_count * XSK_UMEM__DEFAULT_FRAME_SIZE;
  unsigned char* const memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const struct xsk_umem_config areas = {
      .fill_size = ring_size, .comp_size = ring_size, .frame_size = XSK_UMEM__DEFAULT_FRAME_SIZE};
  struct xsk_umem* umem = NULL;
  if (xsk_umem__create(&umem, memory, size, &fill, &completion, &areas) != 0) give_up("UMEM");
  const struct xsk_socket_config config = {
      .rx_size = ring_size, .tx_size = ring_size, .xdp_flags = XDP_FLAGS_DRV_MODE};
  struct xsk_socket* xsk = NULL;
  if (xsk_socket__create(&xsk, interface, 0, umem, &receive, &transmit, &config) != 0) {
    give_up("AF_XDP");
  }
  const int fd = xsk_socket__fd(xsk);
  uint32_t first = 0;
  xsk_ring_prod__reserve(&fill, ring_size, &first);
  for (uint32_t i = 0; i < ring_size; ++i) {
    *xsk_ring_prod__fill_addr(&fill, first + i) = (uint64_t)i * XSK_UMEM__DEFAULT_FRAME_SIZE;
  }
  xsk_ring_prod__submit(&fill, ring_size);
  puts("ready");
  fflush(stdout);
  for (;;) {
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    poll(&asked, 1, -1);
    uint32_t from = 0, to = 0;
    const uint32_t there = xsk_ring_cons__peek(&receive, batch, &from);
    uint32_t sent = 0;
    for (uint32_t i = 0; i < there; ++i) {
      const struct xdp_desc got = *xsk_ring_cons__rx_desc(&receive, from + i);
      unsigned char* const frame = xsk_umem__get_data(memory, got.addr);
      const bool is_ours = frame[12] == (ethertype >> 8) && frame[13] == (ethertype & 0xff);
      if (is_ours && xsk_ring_prod__reserve(&transmit, 1, &to) == 1) {
        readdress(frame);
        struct xdp_desc* const each = xsk_ring_prod__tx_desc(&transmit, to);
        *each = (struct xdp_desc){.addr = got.addr, .len = got.len};
        ++sent;
      } else if (xsk_ring_prod__reserve(&fill, 1, &to) == 1) {
        *xsk_ring_prod__fill_addr(&fill, to) = got.addr;
        xsk_ring_prod__submit(&fill, 1);
      }
    }
    xsk_ring_cons__release(&receive, there);
    xsk_ring_prod__submit(&transmit, sent);
    sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
    // What has been sent may be received into again.
    const uint32_t done = xsk_ring_cons__peek(&completion, ring_size, &from);
    if (done == 0 || xsk_ring_prod__reserve(&fill, done, &to) != done) continue;
    for (uint32_t i = 0; i < done; ++i) {
      *xsk_ring_prod__fill_addr(&fill, to + i) = *xsk_ring_cons__comp_addr(&completion, from + i);
    }
    xsk_ring_prod__submit(&fill, done);
    xsk_ring_cons__release(&completion, done);
  }
}

int main(int count, char** words) {
  if (count != 5) {
    fprintf(stderr, "usage: strata-plain-forward simple|batch|xdp IN OUT DST\n");
    return 2;
  }
  learn_source(words[3]);
  answers = strcmp(words[4], "-") == 0;
  unsigned char* at = destination;
  if (!answers && sscanf(words[4], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", at, at + 1, at + 2, at + 3,
                         at + 4, at + 5) != ETH_ALEN) {
    fprintf(stderr, "strata-plain-forward: '%s' is no MAC address\n", words[4]);
    return 2;
  }
  if (strcmp(words[1], "xdp") == 0) forward_by_xdp(words[2]);
  const int in = open_packet(words[2]);
  const int out = strcmp(words[2], words[3]) == 0 ? in : open_packet(words[3]);
  puts("ready");
  fflush(stdout);
  if (strcmp(words[1], "batch") == 0) forward_batches(in, out);
  forward_each(in, out);
}
