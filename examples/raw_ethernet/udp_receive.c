/* Receives one datagram: udp_receive PORT */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(int argc, char** argv) {
  if (argc != 2) return fputs("usage: udp_receive PORT\n", stderr), 2;
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};

  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return perror("socket"), 1;
  if (bind(fd, (struct sockaddr*)&own, sizeof(own)) < 0) return perror("bind"), 1;
  printf("listening\n");

  char text[1500], name[INET_ADDRSTRLEN];
  struct sockaddr_in from = {0};
  socklen_t size = sizeof(from);
  ssize_t length = recvfrom(fd, text, sizeof(text), 0, (struct sockaddr*)&from, &size);
  if (length < 0) return perror("recvfrom"), 1;
  inet_ntop(AF_INET, &from.sin_addr, name, sizeof(name));
  printf("%zd bytes from %s: %.*s\n", length, name, (int)length, text);
  return 0;
}
