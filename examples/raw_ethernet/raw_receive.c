/* Receives one Ethernet frame: raw_receive INTERFACE */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { ETHERTYPE = 0x88b5 };

int main(int argc, char** argv) {
  if (argc != 2) return fputs("usage: raw_receive INTERFACE\n", stderr), 2;
  struct sockaddr_ll own = {.sll_family = AF_PACKET,
                            .sll_protocol = htons(ETHERTYPE),
                            .sll_ifindex = (int)if_nametoindex(argv[1])};
  if (own.sll_ifindex == 0) return perror(argv[1]), 1;

  int fd = socket(AF_PACKET, SOCK_RAW, 0);
  if (fd < 0) return perror("socket"), 1;
  if (bind(fd, (struct sockaddr*)&own, sizeof(own)) < 0) return perror("bind"), 1;
  printf("listening\n");

  unsigned char frame[ETH_FRAME_LEN];
  ssize_t length = recv(fd, frame, sizeof(frame), MSG_TRUNC);
  if (length < 0) return perror("recv"), 1;
  if (length > ETH_FRAME_LEN) return fprintf(stderr, "a frame of %zd bytes is cut\n", length), 1;
  struct ether_header header;
  memcpy(&header, frame, sizeof(header)); /* the kernel gives no frame that is shorter */
  printf("%zd bytes from %s: %.*s\n", length, ether_ntoa((struct ether_addr*)header.ether_shost),
         (int)(length - (ssize_t)sizeof(header)), (char*)frame + sizeof(header));
  return 0;
}
