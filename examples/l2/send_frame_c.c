/* Sends one Ethernet frame in plain C: send_frame_c INTERFACE TEXT [VLAN] */
#include <stdio.h>
#include <stdlib.h>
#include <strata/strata.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return puts("usage: send_frame_c INTERFACE TEXT [VLAN]"), 2;
  strata_raw_socket* socket = NULL;
  strata_frame frame = {.destination = {255, 255, 255, 255, 255, 255}, .ethertype = 0x88B5};
  if (argc == 4) {
    frame.tag_count = 1;
    frame.tags[0].vlan_id = (uint16_t)atoi(argv[3]);
    frame.tags[0].priority = 7;
  }
  unsigned char bytes[2048];
  size_t size = 0;
  int code = strata_raw_socket_open(argv[1], NULL, &socket);
  if (code == 0) {
    strata_raw_socket_mac(socket, frame.source);
    frame.payload = argv[2];
    frame.payload_size = strlen(argv[2]);
    code = strata_frame_build(&frame, strata_raw_socket_mtu(socket), bytes, sizeof bytes, &size);
  }
  if (code == 0) code = strata_raw_socket_send(socket, bytes, size);
  if (code != 0) puts(strata_last_error());
  strata_raw_socket_close(socket);
  return code != 0;
}
