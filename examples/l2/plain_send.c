/* Sends one Ethernet frame without the library: plain_send INTERFACE */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char** argv) {
  unsigned char frame[60] = {255, 255, 255, 255, 255, 255,  /* to all */
                             2, 0, 0, 0, 0, 1,              /* from */
                             0x88, 0xb5};                   /* type */
  struct sockaddr_ll to = {.sll_family = AF_PACKET};
  int fd = socket(AF_PACKET, SOCK_RAW, 0);
  if (argc != 2 || fd < 0) return perror("socket"), 1;
  to.sll_ifindex = (int)if_nametoindex(argv[1]);
  strcpy((char*)frame + 14, "hello");
  if (sendto(fd, frame, sizeof frame, 0, (struct sockaddr*)&to, sizeof to) < 0)
    return perror("sendto"), 1;
  return 0;
}
