// The plain C contender of bench/l2_endpoints.py: takes frames of EtherType 0x88b5 and sends their
// payload on, by bare system calls.
//
//   strata-plain-forward WAY IN OUT DST
//
// WAY  simple: recvfrom and sendto, one frame a call      batch: recvmmsg and sendmmsg, 64 a call
//      xdp: AF_XDP by libxdp, each frame sent from where it was received: both share a UMEM
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

enum { ethertype = 0x88B5, batch = 64, largest = 2048, ring_size = 2048, most_looks = 20000 };

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

// One interface's rings, over the UMEM that both share.
struct port {
  struct xsk_ring_prod fill, transmit;
  struct xsk_ring_cons receive, completion;
  int fd;
};

static struct xsk_umem* make_umem(struct port* first, unsigned char** memory) {
  const size_t size = (size_t)ring_size * XSK_UMEM__DEFAULT_FRAME_SIZE;
  *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (*memory == MAP_FAILED) give_up("mmap");
  const struct xsk_umem_config areas = {
      .fill_size = ring_size, .comp_size = ring_size, .frame_size = XSK_UMEM__DEFAULT_FRAME_SIZE};
  struct xsk_umem* umem = NULL;
  if (xsk_umem__create(&umem, *memory, size, &first->fill, &first->completion, &areas) != 0) {
    give_up("UMEM");
  }
  return umem;
}

static void open_port(struct port* port, struct xsk_umem* umem, const char* interface,
                      bool receives) {
  const struct xsk_socket_config config = {
      .rx_size = ring_size,
      .tx_size = ring_size,
      .libxdp_flags = receives ? 0 : XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
      .xdp_flags = XDP_FLAGS_DRV_MODE};
  struct xsk_socket* xsk = NULL;
  if (xsk_socket__create_shared(&xsk, interface, 0, umem, receives ? &port->receive : NULL,
                                &port->transmit, &port->fill, &port->completion, &config) != 0) {
    give_up("AF_XDP");
  }
  port->fd = xsk_socket__fd(xsk);
}

// One call takes a part of the ring, and says EAGAIN when more is left.
static void push(const struct port* out) {
  while (sendto(out->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && errno == EAGAIN) continue;
}

// The ring holds all frames; for a moment the kernel may not yet have said that it took one out.
static uint32_t reserve_fill(struct port* in, uint32_t count) {
  uint32_t first = 0;
  while (xsk_ring_prod__reserve(&in->fill, count, &first) != count) continue;
  return first;
}

// Sends what has arrived from where it lies, or drops it where there is no room, as on a wire.
static void pass_on(struct port* in, struct port* out, unsigned char* memory) {
  uint32_t from = 0, to = 0, sent = 0;
  const uint32_t there = xsk_ring_cons__peek(&in->receive, batch, &from);
  // To be woken costs its sender more than this costs here.
  static unsigned looks = 0;
  if (there == 0) {
    if (++looks < most_looks) return;
    struct pollfd asked = {.fd = in->fd, .events = POLLIN};
    poll(&asked, 1, -1);
    return;
  }
  looks = 0;
  for (uint32_t i = 0; i < there; ++i) {
    const struct xdp_desc got = *xsk_ring_cons__rx_desc(&in->receive, from + i);
    unsigned char* const frame = xsk_umem__get_data(memory, got.addr);
    const bool is_ours = frame[12] == (ethertype >> 8) && frame[13] == (ethertype & 0xff);
    if (is_ours && xsk_ring_prod__reserve(&out->transmit, 1, &to) == 1) {
      readdress(frame);
      *xsk_ring_prod__tx_desc(&out->transmit, to) =
          (struct xdp_desc){.addr = got.addr, .len = got.len};
      ++sent;
    } else {
      *xsk_ring_prod__fill_addr(&in->fill, reserve_fill(in, 1)) = got.addr;
      xsk_ring_prod__submit(&in->fill, 1);
    }
  }
  xsk_ring_cons__release(&in->receive, there);
  xsk_ring_prod__submit(&out->transmit, sent);
  push(out);
}

// What has been sent may be received into again.
static void give_back(struct port* in, struct port* out) {
  uint32_t from = 0;
  const uint32_t done = xsk_ring_cons__peek(&out->completion, ring_size, &from);
  if (done == 0) return;
  uint32_t to = reserve_fill(in, done);
  for (uint32_t i = 0; i < done; ++i) {
    *xsk_ring_prod__fill_addr(&in->fill, to++) =
        *xsk_ring_cons__comp_addr(&out->completion, from + i);
  }
  xsk_ring_prod__submit(&in->fill, done);
  xsk_ring_cons__release(&out->completion, done);
}

static void forward_by_xdp(const char* from, const char* to) {
  static struct port ports[2];
  struct port *const in = &ports[0], *const out = strcmp(from, to) == 0 ? in : &ports[1];
  unsigned char* memory = NULL;
  struct xsk_umem* const umem = make_umem(in, &memory);
  open_port(in, umem, from, true);
  if (out != in) open_port(out, umem, to, false);
  const uint32_t first = reserve_fill(in, ring_size);
  for (uint32_t i = 0; i < ring_size; ++i) {
    *xsk_ring_prod__fill_addr(&in->fill, first + i) = (uint64_t)i * XSK_UMEM__DEFAULT_FRAME_SIZE;
  }
  xsk_ring_prod__submit(&in->fill, ring_size);
  puts("ready");
  fflush(stdout);
  for (;;) {
    pass_on(in, out, memory);
    give_back(in, out);
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
  if (strcmp(words[1], "xdp") == 0) forward_by_xdp(words[2], words[3]);
  const int in = open_packet(words[2]);
  const int out = strcmp(words[2], words[3]) == 0 ? in : open_packet(words[3]);
  puts("ready");
  fflush(stdout);
  if (strcmp(words[1], "batch") == 0) forward_batches(in, out);
  forward_each(in, out);
}
