// The plain C contender of bench/xdp.py: AF_XDP by xsk.h of libxdp, with nothing between it and the
// program, and with the same work to do as `strata xdp gen` and `strata xdp drop`, and as the OCaml
// tools: numbered UDP packets with right checksums out, and frames counted in.
//
//   strata-plain-xdp gen IFACE QUEUE COUNT PORT
//   strata-plain-xdp drop IFACE QUEUE COUNT
//
// Says "ready" on standard error once it can receive. drop ends after COUNT packets or 1 s of
// silence behind the first.
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <xdp/xsk.h>

enum { frame_size = 4096, frame_count = 4096, batch = 64, ring_size = 2048, packet_size = 60 };
enum { udp_at = 34, number_at = 42 };

static char* memory;
static struct xsk_umem* umem;
static struct xsk_socket* xsk;
static struct xsk_ring_prod fill, transmit;
static struct xsk_ring_cons completion, receive;
static int fd;
static volatile sig_atomic_t is_over;

static void give_up(const char* what, int code) {
  fprintf(stderr, "cannot %s: %s\n", what, strerror(code));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void on_signal(int number) {
  (void)number;
  is_over = 1;
}

static void open_socket(const char* interface, uint32_t queue, int receives) {
  const size_t size = (size_t)frame_size * frame_count;
  memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_up("map memory", errno);
  int code = xsk_umem__create(&umem, memory, size, &fill, &completion, NULL);
  if (code != 0) give_up("make a UMEM", -code);
  // The program that libxdp loads hangs on the interface after kill -9, so only `drop` has it.
  const struct xsk_socket_config config = {
      .rx_size = ring_size,
      .tx_size = ring_size,
      .libxdp_flags = receives ? 0 : XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
      .xdp_flags = XDP_FLAGS_DRV_MODE,
  };
  code = xsk_socket__create(&xsk, interface, queue, umem, receives ? &receive : NULL,
                            receives ? NULL : &transmit, &config);
  if (code != 0) give_up("open a socket", -code);
  fd = xsk_socket__fd(xsk);
}

static uint32_t sum_of(const unsigned char* bytes, size_t size, uint32_t sum) {
  for (size_t i = 0; i + 1 < size; i += 2) sum += (uint32_t)bytes[i] << 8U | bytes[i + 1];
  return sum;
}

static uint16_t folded(uint32_t sum) {
  while (sum >> 16U) sum = (sum & 0xffff) + (sum >> 16U);
  return (uint16_t)sum;
}

// Ethernet, IPv4 and UDP, of number 0; returns the sum of its UDP checksum.
static uint32_t build(unsigned char* packet, uint16_t port) {
  static const unsigned char head[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  1, 8, 0,
                                       0x45, 0,    0,    46,   0,    0,    0, 0, 64, 17, 0, 0,
                                       192,  0,    2,    1,    192,  0,    2, 2};
  memset(packet, 0, packet_size);
  memcpy(packet, head, sizeof head);
  const uint16_t ip = htons((uint16_t)~folded(sum_of(packet + 14, 20, 0)));
  memcpy(packet + 24, &ip, 2);
  const uint16_t udp[] = {htons(port), htons(port), htons(26)};
  memcpy(packet + udp_at, udp, sizeof udp);
  // The pseudo-header: addresses, protocol, length.
  return sum_of(packet + udp_at, 26, sum_of(packet + 26, 8, 17 + 26));
}

static void number(unsigned char* packet, uint32_t sum, uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 16) sum += (value >> shift) & 0xffff;
  uint16_t checksum = (uint16_t)~folded(sum);
  if (checksum == 0) checksum = 0xffff;
  const uint64_t big = __builtin_bswap64(value);
  memcpy(packet + number_at, &big, sizeof big);
  checksum = htons(checksum);
  memcpy(packet + udp_at + 6, &checksum, sizeof checksum);
}

static void generate(uint64_t count, uint16_t port) {
  static uint64_t idle[frame_count];
  uint32_t idle_count = 0;
  unsigned char packet[packet_size];
  const uint32_t sum = build(packet, port);
  for (uint64_t i = 0; i < frame_count; ++i) {
    idle[idle_count++] = i * frame_size;
    memcpy(memory + i * frame_size, packet, packet_size);
  }
  uint64_t queued = 0, sent = 0;
  const double began = now();
  while (sent < count && !is_over) {
    uint32_t most = count - queued < batch ? (uint32_t)(count - queued) : batch;
    if (most > idle_count) most = idle_count;
    uint32_t first = 0;
    most = xsk_prod_nb_free(&transmit, most) < most ? 0 : most;
    if (most != 0 && xsk_ring_prod__reserve(&transmit, most, &first) == most) {
      for (uint32_t i = 0; i < most; ++i) {
        struct xdp_desc* each = xsk_ring_prod__tx_desc(&transmit, first + i);
        each->addr = idle[--idle_count];
        each->len = packet_size;
        each->options = 0;
        number((unsigned char*)memory + each->addr, sum, queued++);
      }
      xsk_ring_prod__submit(&transmit, most);
    }
    if (sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && errno != EAGAIN && errno != EBUSY &&
        errno != ENOBUFS) {
      give_up("send", errno);
    }
    const uint32_t done = xsk_ring_cons__peek(&completion, batch, &first);
    for (uint32_t i = 0; i < done; ++i) {
      idle[idle_count++] = *xsk_ring_cons__comp_addr(&completion, first + i);
    }
    if (done != 0) xsk_ring_cons__release(&completion, done);
    sent += done;
  }
  const double took = now() - began;
  printf("[udp_pkt_gen] %llu (pkts) %.3f (s) %.0f (pps)\n", (unsigned long long)sent, took,
         (double)sent / took);
}

static void drop(uint64_t count) {
  uint32_t first = 0;
  if (xsk_ring_prod__reserve(&fill, ring_size, &first) != ring_size) give_up("fill", ENOSPC);
  for (uint32_t i = 0; i < ring_size; ++i) {
    *xsk_ring_prod__fill_addr(&fill, first + i) = (uint64_t)i * frame_size;
  }
  xsk_ring_prod__submit(&fill, ring_size);
  fprintf(stderr, "ready\n");
  uint64_t total = 0, early = 0;
  double began = 0, last = 0;
  while (total < count && !is_over) {
    const uint32_t there = xsk_ring_cons__peek(&receive, batch, &first);
    if (there == 0) {
      struct pollfd asked = {.fd = fd, .events = POLLIN};
      poll(&asked, 1, 100);
      if (total != 0 && now() - last > 1) break;
      continue;
    }
    uint32_t back = 0;
    // For a moment the kernel may not yet have said that it took the frames out.
    while (xsk_ring_prod__reserve(&fill, there, &back) != there && !is_over) continue;
    for (uint32_t i = 0; i < there; ++i) {
      const uint64_t address = xsk_ring_cons__rx_desc(&receive, first + i)->addr;
      *xsk_ring_prod__fill_addr(&fill, back + i) = address & ~(uint64_t)(frame_size - 1);
    }
    xsk_ring_prod__submit(&fill, there);
    xsk_ring_cons__release(&receive, there);
    last = now();
    if (total == 0) {
      began = last;
      early = there;
    }
    total += there;
  }
  struct xdp_statistics counted = {0};
  socklen_t size = sizeof counted;
  getsockopt(fd, SOL_XDP, XDP_STATISTICS, &counted, &size);
  const double rate = last > began ? (double)(total - early) / (last - began) : 0;
  printf("[rxdrop] %llu (pkts) %.3f (s) %.0f (pps) %llu (dropped)\n", (unsigned long long)total,
         last - began, rate, (unsigned long long)(counted.rx_dropped + counted.rx_ring_full));
}

int main(int count, char** words) {
  if (count < 5) {
    fprintf(stderr, "usage: strata-plain-xdp gen|drop IFACE QUEUE COUNT [PORT]\n");
    return 2;
  }
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  const int receives = strcmp(words[1], "drop") == 0;
  open_socket(words[2], (uint32_t)strtoul(words[3], NULL, 10), receives);
  const uint64_t packets = strtoull(words[4], NULL, 10);
  if (receives) {
    drop(packets);
  } else {
    generate(packets, (uint16_t)(count > 5 ? strtoul(words[5], NULL, 10) : 9000));
  }
  xsk_socket__delete(xsk);
  xsk_umem__delete(umem);
  return 0;
}
