/* Receives Ethernet frames in memory shared with the kernel: ring_receive INTERFACE COUNT */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { ETHERTYPE = 0x88b5, BLOCK = 1 << 16, BLOCKS = 4 };

/* The ring: BLOCKS blocks of BLOCK bytes each. The kernel fills one with frames, and hands it over
 * when it is full, or 10 ms after its first frame. */
static char* make_ring(int fd) {
  int version = TPACKET_V3;
  struct tpacket_req3 wanted = {.tp_block_size = BLOCK,
                                .tp_block_nr = BLOCKS,
                                .tp_frame_size = 2048, /* as V3 wants it; frames lie closer */
                                .tp_frame_nr = BLOCK / 2048 * BLOCKS,
                                .tp_retire_blk_tov = 10};
  if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &wanted, sizeof(wanted)) < 0)
    return MAP_FAILED;
  return mmap(NULL, BLOCK * BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void show_frame(const struct tpacket3_hdr* frame) {
  const char* bytes = (const char*)frame + frame->tp_mac;
  const struct ether_header* header = (const struct ether_header*)bytes;
  printf("%u bytes from %s: %.*s\n", frame->tp_len,
         ether_ntoa((const struct ether_addr*)header->ether_shost),
         (int)(frame->tp_snaplen - sizeof(*header)), bytes + sizeof(*header));
}

/* How many frames were in the block, which is the kernel's again afterwards. */
static int take_block(struct tpacket_block_desc* block) {
  int count = (int)block->hdr.bh1.num_pkts;
  char* at = (char*)block + block->hdr.bh1.offset_to_first_pkt;
  for (int i = 0; i < count; ++i) {
    show_frame((struct tpacket3_hdr*)at);
    at += ((struct tpacket3_hdr*)at)->tp_next_offset;
  }
  __atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  return count;
}

int main(int argc, char** argv) {
  if (argc != 3) return fputs("usage: ring_receive INTERFACE COUNT\n", stderr), 2;
  struct sockaddr_ll own = {.sll_family = AF_PACKET,
                            .sll_protocol = htons(ETHERTYPE),
                            .sll_ifindex = (int)if_nametoindex(argv[1])};
  if (own.sll_ifindex == 0) return perror(argv[1]), 1;
  int fd = socket(AF_PACKET, SOCK_RAW, 0);
  if (fd < 0) return perror("socket"), 1;
  char* ring = make_ring(fd);
  if (ring == MAP_FAILED) return perror("PACKET_RX_RING"), 1;
  if (bind(fd, (struct sockaddr*)&own, sizeof(own)) < 0) return perror("bind"), 1;
  printf("listening\n");

  int wanted = atoi(argv[2]);
  for (int received = 0, next = 0; received < wanted; next = (next + 1) % BLOCKS) {
    struct tpacket_block_desc* block = (struct tpacket_block_desc*)(ring + next * BLOCK);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (!(__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
      if (poll(&ready, 1, -1) < 0) return perror("poll"), 1;
    received += take_block(block);
  }

  struct tpacket_stats_v3 counted;
  socklen_t size = sizeof(counted);
  if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &counted, &size) < 0)
    return perror("PACKET_STATISTICS"), 1;
  printf("%u frames came, %u of them were dropped\n", counted.tp_packets, counted.tp_drops);
  return 0;
}
