/* Sends one datagram: udp_send ADDRESS PORT TEXT */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char** argv) {
  if (argc != 4) return fputs("usage: udp_send ADDRESS PORT TEXT\n", stderr), 2;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  if (inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
    return fprintf(stderr, "%s is no IPv4 address\n", argv[1]), 2;

  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return perror("socket"), 1;
  ssize_t sent = sendto(fd, argv[3], strlen(argv[3]), 0, (struct sockaddr*)&to, sizeof(to));
  if (sent < 0) return perror("sendto"), 1;
  printf("sent %zd bytes\n", sent);
  return 0;
}
