/* Sends one Ethernet frame: raw_send INTERFACE MAC TEXT */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { ETHERTYPE = 0x88b5, SHORTEST = 60 };

int main(int argc, char** argv) {
  if (argc != 4) return fputs("usage: raw_send INTERFACE MAC TEXT\n", stderr), 2;
  struct ether_header header = {.ether_type = htons(ETHERTYPE)};
  size_t length = sizeof(header) + strlen(argv[3]);
  const struct ether_addr* mac = ether_aton(argv[2]);
  if (!mac) return fprintf(stderr, "%s is no MAC address\n", argv[2]), 2;
  memcpy(header.ether_dhost, mac, ETH_ALEN);

  int fd = socket(AF_PACKET, SOCK_RAW, 0); /* 0: it receives nothing */
  if (fd < 0) return perror("socket"), 1;
  struct ifreq interface = {0};
  strncpy(interface.ifr_name, argv[1], IFNAMSIZ - 1);
  if (ioctl(fd, SIOCGIFHWADDR, &interface) < 0) return perror(argv[1]), 1;
  memcpy(header.ether_shost, interface.ifr_hwaddr.sa_data, ETH_ALEN);

  unsigned char frame[ETH_FRAME_LEN] = {0};
  if (length > sizeof(frame)) return fputs("the text is too long for a frame\n", stderr), 2;
  memcpy(frame, &header, sizeof(header));
  memcpy(frame + sizeof(header), argv[3], strlen(argv[3]));
  if (length < SHORTEST) length = SHORTEST; /* the rest of it is 0 */

  struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(argv[1])};
  if (sendto(fd, frame, length, 0, (struct sockaddr*)&to, sizeof(to)) < 0)
    return perror("sendto"), 1;
  printf("sent %zu bytes\n", length);
  return 0;
}
